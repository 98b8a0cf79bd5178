//! The published schema and the reference page agree with the program.

use billow_scene::{gallery, reference, schema};
use serde_json::Value;
use std::path::Path;

/// Everything below this line of the manual is generated.
const MARK: &str = "<!-- generated from the declarations; do not edit below -->\n\n";

#[test]
fn the_manual_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-files.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, tail) = text.split_once(MARK).expect("the manual has its mark");
    if std::env::var_os("BILLOW_UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, format!("{head}{MARK}{}", reference())).unwrap();
    } else {
        assert!(
            tail == reference(),
            "docs/scene-files.md is stale: run the test with BILLOW_UPDATE_EXPECTED=1"
        );
    }
}

/// The scenes in the manual's tutorial load.
#[test]
fn the_scenes_of_the_manual_load() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-files.md");
    let text = std::fs::read_to_string(path).unwrap();
    let scenes: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|s| s.split("```").next()).collect();
    assert!(scenes.len() >= 3);
    let mut whole = String::new();
    for scene in scenes {
        whole += scene;
        billow_scene::Loader::text("manual.toml", whole.as_str())
            .load()
            .unwrap_or_else(|p| panic!("{p}\n{whole}"));
    }
}

/// As much of JSON Schema as our schema uses.
fn valid(schema: &Value, value: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return true };
    schema.iter().all(|(key, rule)| match key.as_str() {
        "type" => match rule {
            Value::Array(types) => types.iter().any(|t| is_type(t, value)),
            one => is_type(one, value),
        },
        "const" => rule == value,
        "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|x| x <= rule.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|x| x > rule.as_f64().unwrap()),
        "minItems" => value.as_array().is_none_or(|a| a.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|a| a.len() as u64 <= rule.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|a| a.iter().all(|v| valid(rule, v))),
        "oneOf" => rule.as_array().unwrap().iter().filter(|s| valid(s, value)).count() == 1,
        "anyOf" => rule.as_array().unwrap().iter().any(|s| valid(s, value)),
        "required" => value
            .as_object()
            .is_none_or(|o| rule.as_array().unwrap().iter().all(|k| o.contains_key(k.as_str().unwrap()))),
        "properties" => {
            value.as_object().is_none_or(|o| o.iter().all(|(k, v)| rule.get(k).is_none_or(|s| valid(s, v))))
        }
        "additionalProperties" => value.as_object().is_none_or(|o| {
            let known = schema.get("properties").and_then(Value::as_object);
            o.iter().filter(|(k, _)| !known.is_some_and(|p| p.contains_key(*k))).all(|(_, v)| match rule {
                Value::Bool(allowed) => *allowed,
                schema => valid(schema, v),
            })
        }),
        "$schema" | "title" | "description" | "default" | "x-unit" => true,
        other => panic!("the schema uses `{other}`"),
    })
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("{other}"),
    }
}

fn json(value: &toml::de::DeValue<'_>) -> Value {
    use toml::de::DeValue;
    match value {
        DeValue::String(s) => Value::String(s.to_string()),
        DeValue::Integer(i) => serde_json::json!(i.as_str().parse::<i64>().unwrap()),
        DeValue::Float(x) => serde_json::json!(x.as_str().parse::<f64>().unwrap()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(d) => Value::String(d.to_string()),
        DeValue::Array(items) => items.iter().map(|v| json(v.get_ref())).collect(),
        DeValue::Table(t) => {
            Value::Object(t.iter().map(|(k, v)| (k.get_ref().to_string(), json(v.get_ref()))).collect())
        }
    }
}

fn document(text: &str) -> Value {
    let table = toml::de::DeTable::parse(text).unwrap();
    json(&toml::de::DeValue::Table(table.into_inner()))
}

#[test]
fn the_schema_accepts_the_gallery_and_refuses_what_the_reader_refuses() {
    let schema = schema();
    for scene in gallery::list() {
        for (name, text) in scene.files {
            assert!(valid(&schema, &document(text)), "{name} does not match the schema");
        }
    }
    let broken = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scenes/broken");
    for name in
        ["unknown-key", "misspelt-keys", "wrong-types", "out-of-range", "missing-keys", "key-of-other-shape"]
    {
        let text = std::fs::read_to_string(broken.join(format!("{name}.toml"))).unwrap();
        assert!(!valid(&schema, &document(&text)), "the schema accepts {name}");
    }
    let fps = &schema["properties"]["simulation"]["properties"]["fps"];
    assert_eq!((fps["default"].as_f64(), fps["x-unit"].as_str()), (Some(24.0), Some("1/s")));
    assert!(fps["description"].as_str().is_some_and(|d| d.contains("simulated time")));
}
