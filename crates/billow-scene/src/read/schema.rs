//! JSON Schema (draft 2020-12) of the declared tables.

use super::declare::{ChoiceInfo, FieldInfo, FieldSpec, Kind, TableInfo};
use serde_json::{Map, Value as Json, json};

/// The schema of a document whose root is `info`.
pub(crate) fn document(info: &TableInfo) -> Json {
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("Billow scene"));
    if let Json::Object(table) = table(info) {
        schema.extend(table);
    }
    Json::Object(schema)
}

fn table(info: &TableInfo) -> Json {
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    if !info.doc.is_empty() {
        schema.insert("description".into(), json!(flat(&info.doc)));
    }
    let mut properties = Map::new();
    properties.extend(info.fields.iter().map(property));
    let required: Vec<_> = info.fields.iter().filter(|f| f.required).map(|f| f.spec.key).collect();
    match &info.choice {
        None => {
            schema.insert("properties".into(), Json::Object(properties));
            schema.insert("required".into(), json!(required));
            schema.insert("additionalProperties".into(), json!(false));
        }
        Some(choice) => {
            schema.insert("oneOf".into(), Json::Array(variants(choice, &properties, &required)));
        }
    }
    Json::Object(schema)
}

/// One alternative per tag, and one without the tag if it may be left out.
fn variants(choice: &ChoiceInfo, common: &Map<String, Json>, required: &[&str]) -> Vec<Json> {
    let alternative = |properties: Map<String, Json>, required: Vec<&str>, doc: &str| {
        json!({ "description": flat(doc), "properties": properties, "required": required,
                "additionalProperties": false })
    };
    let mut all: Vec<Json> = choice
        .variants
        .iter()
        .map(|(word, info)| {
            let mut properties = common.clone();
            properties.insert(choice.tag.into(), json!({ "const": word }));
            properties.extend(info.fields.iter().map(property));
            let own = info.fields.iter().filter(|f| f.required).map(|f| f.spec.key);
            let required = required.iter().copied().chain([choice.tag]).chain(own).collect();
            alternative(properties, required, &info.doc)
        })
        .collect();
    if !choice.required {
        all.push(alternative(common.clone(), required.to_vec(), "Without the tag."));
    }
    all
}

fn property(field: &FieldInfo) -> (String, Json) {
    let mut schema = match kind(&field.kind, &field.spec) {
        Json::Object(schema) => schema,
        other => Map::from_iter([("const".to_owned(), other)]),
    };
    let description = format!("{}{}", flat(field.spec.doc), field.spec.unit_suffix());
    schema.insert("description".into(), json!(description));
    if !field.spec.unit.is_empty() {
        schema.insert("x-unit".into(), json!(field.spec.unit));
    }
    if let Some(default) = &field.default {
        schema.insert("default".into(), default.clone());
    }
    (field.spec.key.to_owned(), Json::Object(schema))
}

fn kind(kind_of: &Kind, spec: &FieldSpec) -> Json {
    match kind_of {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Integer => number("integer", spec),
        Kind::Number => number("number", spec),
        Kind::Text | Kind::Path | Kind::Name(_) => json!({ "type": "string" }),
        Kind::Expression => json!({ "type": ["number", "string"] }),
        Kind::Tuple(n, item) => {
            json!({ "type": "array", "items": kind(item, spec), "minItems": n, "maxItems": n })
        }
        Kind::List(item) => {
            json!({ "type": "array", "items": kind(item, spec), "minItems": spec.count.0 })
        }
        Kind::Keyword(words) => {
            let words: Vec<_> =
                words.iter().map(|(w, doc)| json!({ "const": w, "description": doc.trim() })).collect();
            json!({ "oneOf": words })
        }
        Kind::Table(info) => table(info),
        Kind::Map(item) => json!({ "type": "object", "additionalProperties": kind(item, spec) }),
        Kind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(|k| kind(k, spec)).collect::<Vec<_>>() })
        }
    }
}

fn number(name: &str, spec: &FieldSpec) -> Json {
    let mut schema = Map::from_iter([("type".to_owned(), json!(name))]);
    let whole = |x: f64| if name == "integer" { json!(x as i64) } else { json!(x) };
    let interval = spec.interval;
    if interval.min.is_finite() {
        let key = if interval.min_open { "exclusiveMinimum" } else { "minimum" };
        schema.insert(key.into(), whole(interval.min));
    } else if name == "integer" {
        schema.insert("minimum".into(), json!(0));
    }
    if interval.max.is_finite() {
        schema.insert("maximum".into(), whole(interval.max));
    }
    Json::Object(schema)
}

/// A doc comment as one paragraph.
pub(crate) fn flat(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
