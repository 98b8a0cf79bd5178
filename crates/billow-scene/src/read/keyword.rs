//! Closed choices: values that are one of a few words.

/// Declares an enum whose variants are words in the scene file.
macro_rules! keyword {
    (
        $(#[doc = $enum_doc:literal])*
        $vis:vis enum $name:ident {
            $( #[doc = $doc:literal] $word:literal $variant:ident, )*
        }
    ) => {
        $(#[doc = $enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $( #[doc = $doc] $variant, )*
        }

        impl $name {
            /// The words and their meanings.
            pub(crate) const WORDS: &'static [(&'static str, &'static str)] = &[$( ($word, $doc) ),*];

            /// The variant a word stands for.
            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$variant), )*
                    _ => None,
                }
            }

            /// The word for this variant.
            #[allow(dead_code, reason = "not every list of words is written back")]
            pub(crate) fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                }
            }
        }

        impl $crate::read::declare::Value for $name {
            fn kind() -> $crate::read::declare::Kind {
                $crate::read::declare::Kind::Keyword(Self::WORDS)
            }

            fn read(
                node: &$crate::read::node::Node,
                spec: &$crate::read::declare::FieldSpec,
                log: &mut $crate::read::log::Log,
            ) -> Option<Self> {
                $crate::read::keyword::read_word(node, spec, Self::WORDS, log).and_then(Self::from_word)
            }

            fn to_json(&self) -> serde_json::Value {
                serde_json::json!(self.word())
            }
        }
    };
}
pub(crate) use keyword;

use super::declare::{FieldSpec, Kind};
use super::log::{Log, nearest};
use super::node::{Data, Node};

/// Reads one of `words`.
pub(crate) fn read_word(
    node: &Node,
    spec: &FieldSpec,
    words: &'static [(&'static str, &'static str)],
    log: &mut Log,
) -> Option<&'static str> {
    let kind = Kind::Keyword(words);
    let Data::Text(text) = &node.data else {
        log.error(node.span, format!("`{}` must be {kind}, found {}", spec.key, node.found()));
        return None;
    };
    if let Some(word) = words.iter().find(|w| w.0 == text) {
        return Some(word.0);
    }
    let guess = nearest(text, words.iter().map(|w| w.0));
    let problem = log.error(node.span, format!("`{}` is {}, but must be {kind}", spec.key, node.found()));
    if let Some(guess) = guess {
        problem.help(format!("did you mean \"{guess}\"?"));
    }
    None
}
