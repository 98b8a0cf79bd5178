//! What can be wrong with the input of a numerical routine.

use std::fmt;

/// Errors of this crate; each message carries the numbers needed to act.
#[derive(Clone, Debug, PartialEq)]
pub enum NumError {
    /// A 3×3 matrix has no usable inverse.
    Singular {
        /// Reciprocal condition number 1/(|A| |A⁻¹|) in the Frobenius norm [-].
        rcond: f64,
        /// The smallest one that was asked for [-].
        limit: f64,
    },
    /// A dense matrix lost a pivot.
    ZeroPivot {
        /// The elimination step.
        step: usize,
        /// Size of the best pivot relative to the matrix [-].
        pivot: f64,
    },
    /// The function has the same sign at both ends of a bracket.
    NoSignChange {
        /// Value at the lower end.
        at_lo: f64,
        /// Value at the upper end.
        at_hi: f64,
    },
    /// The function returned NaN.
    NotANumber {
        /// Where it did.
        at: f64,
    },
    /// The ends of a range are not finite numbers in increasing order.
    BadRange {
        /// The lower end given.
        lo: f64,
        /// The upper end given.
        hi: f64,
    },
    /// An element, row or region names an index that does not exist.
    IndexOutOfRange {
        /// Which item names it.
        item: usize,
        /// The index named.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// An element names one of its nodes twice.
    RepeatedNode {
        /// The element.
        element: usize,
        /// The node.
        node: usize,
    },
    /// A matrix that must be positive definite has a negative or non-finite diagonal entry.
    BadDiagonal {
        /// The row.
        row: usize,
        /// The entry found there.
        value: f64,
    },
    /// A matrix that must be square or symmetric in its pattern is not.
    NotSymmetric {
        /// The row with an entry that has no mirror image.
        row: usize,
        /// Its column.
        column: usize,
    },
}

impl fmt::Display for NumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Singular { rcond, limit } => write!(
                f,
                "the 3×3 matrix is singular: its reciprocal condition number {rcond:.2e} is below {limit:.2e}"
            ),
            Self::ZeroPivot { step, pivot } => write!(
                f,
                "the matrix is singular: the best pivot at step {step} is {pivot:.2e} of its largest entry"
            ),
            Self::NoSignChange { at_lo, at_hi } => {
                write!(f, "the function is {at_lo} and {at_hi} at the ends: give ends where its sign differs")
            }
            Self::NotANumber { at } => write!(f, "the function is not a number at {at}: narrow the range"),
            Self::BadRange { lo, hi } => {
                write!(f, "[{lo}, {hi}] is not a range: give finite ends, lower first")
            }
            Self::IndexOutOfRange { item, index, count } => {
                write!(f, "item {item} names index {index}, but there are only {count} (0 to {count} - 1)")
            }
            Self::RepeatedNode { element, node } => {
                write!(f, "element {element} names node {node} twice: remove degenerate elements")
            }
            Self::BadDiagonal { row, value } => {
                write!(
                    f,
                    "the diagonal entry of row {row} is {value}: a positive definite matrix has it above 0"
                )
            }
            Self::NotSymmetric { row, column } => {
                write!(
                    f,
                    "the entry ({row}, {column}) has no equal mirror image: the matrix must be symmetric"
                )
            }
        }
    }
}

impl std::error::Error for NumError {}
