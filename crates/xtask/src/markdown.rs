//! Reading tables out of Markdown documents.

/// A table row: its line number (from 1) and its trimmed cells.
pub(crate) struct Row<'a> {
    pub(crate) line: usize,
    pub(crate) cells: Vec<&'a str>,
}

/// The body rows of every table whose header cells begin with `header`.
pub(crate) fn tables<'a>(text: &'a str, header: &[&str]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut inside = false;
    for (k, line) in text.lines().enumerate() {
        let Some(cells) = cells(line) else {
            inside = false;
            continue;
        };
        let is_rule = cells.iter().all(|c| !c.is_empty() && c.chars().all(|ch| ch == '-' || ch == ':'));
        if cells.len() >= header.len() && cells.iter().zip(header).all(|(c, h)| c == h) {
            inside = true;
        } else if inside && !is_rule {
            rows.push(Row { line: k + 1, cells });
        }
    }
    rows
}

/// The words between back-quotes in a cell.
pub(crate) fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_only_the_tables_with_the_header() {
        let text = "| a | b |\n| --- | --- |\n| 1 | `x` and `y` |\n\n| c |\n| --- |\n| 2 |\n";
        let rows = tables(text, &["a", "b"]);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].line, rows[0].cells[0]), (3, "1"));
        assert_eq!(quoted(rows[0].cells[1]), ["x", "y"]);
    }
}
