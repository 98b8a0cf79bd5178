//! The reference part of the scene file manual, in Markdown.

use super::declare::{FieldInfo, Kind, TableInfo};
use super::schema::flat;
use std::fmt::Write;

/// One section per table, one row per key.
pub(crate) fn document(info: &TableInfo) -> String {
    let mut out = String::new();
    let plain: Vec<&FieldInfo> = info.fields.iter().filter(|f| table_of(&f.kind).is_none()).collect();
    section(&mut out, "Top level", &info.doc);
    rows(&mut out, &plain);
    for field in &info.fields {
        if let Some((nested, inner)) = table_of(&field.kind) {
            let name =
                if nested { format!("[{}.NAME]", field.spec.key) } else { format!("[{}]", field.spec.key) };
            table(&mut out, &name, field.spec.doc, inner);
        }
    }
    out
}

/// The table behind a kind, and whether it stands under names.
fn table_of(kind: &Kind) -> Option<(bool, &TableInfo)> {
    match kind {
        Kind::Table(info) => Some((false, info)),
        Kind::Map(inner) => table_of(inner).map(|(_, info)| (true, info)),
        Kind::List(inner) => table_of(inner),
        Kind::Either(kinds) => kinds.iter().find_map(table_of),
        _ => None,
    }
}

fn table(out: &mut String, name: &str, doc: &str, info: &TableInfo) {
    section(out, &format!("`{name}`"), if doc.is_empty() { &info.doc } else { doc });
    rows(out, &info.fields.iter().collect::<Vec<_>>());
    if let Some(choice) = &info.choice {
        for (word, variant) in &choice.variants {
            let _ = writeln!(out, "**`{} = \"{word}\"`**: {}\n", choice.tag, flat(&variant.doc));
            rows(out, &variant.fields.iter().collect::<Vec<_>>());
        }
    }
    let variants = info.choice.iter().flat_map(|c| c.variants.iter().flat_map(|v| &v.1.fields));
    for field in info.fields.iter().chain(variants) {
        if let Some((_, inner)) = table_of(&field.kind) {
            let base = name.trim_end_matches(']');
            table(out, &format!("{base}.{}]", field.spec.key), "", inner);
        }
    }
}

fn section(out: &mut String, title: &str, doc: &str) {
    let _ = writeln!(out, "### {title}\n\n{}\n", flat(doc));
}

fn rows(out: &mut String, fields: &[&FieldInfo]) {
    if fields.is_empty() {
        return;
    }
    out.push_str("| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
    for field in fields {
        let spec = &field.spec;
        let mut value = short_kind(&field.kind);
        if spec.interval != super::declare::Interval::ALL {
            let _ = write!(value, ", {}", spec.interval);
        }
        let default = match (&field.default, field.required) {
            (Some(json), _) => format!("`{json}`"),
            (None, true) => "required".into(),
            (None, false) => "–".into(),
        };
        let meaning = format!("{}{}", flat(spec.doc), spec.unit_suffix()).replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {value} | {default} | {meaning} |", spec.key);
    }
    out.push('\n');
}

fn short_kind(kind: &Kind) -> String {
    match kind {
        Kind::Table(_) => "table".into(),
        Kind::Tuple(n, item) => format!("{n} × {}", short_kind(item)),
        Kind::List(item) => format!("list of: {}", short_kind(item)),
        Kind::Either(kinds) => kinds.iter().map(short_kind).collect::<Vec<_>>().join(" or "),
        Kind::Keyword(words) => words.iter().map(|w| format!("`\"{}\"`", w.0)).collect::<Vec<_>>().join(", "),
        Kind::Expression => "number or formula".into(),
        other => other.to_string(),
    }
}
