//! Reports as files.

use super::Report;
use crate::app::output;
use anyhow::Result;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// Writes a report as JSON, or as CSV when the name ends in `.csv`; whole or not at all.
///
/// # Errors
/// Of the file system.
pub fn write(path: &Path, report: &Report) -> Result<()> {
    let csv = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    output::write_whole(path, |file| {
        if csv {
            file.write_all(csv_text(&serde_json::to_value(report)?).as_bytes())?;
        } else {
            serde_json::to_writer_pretty(&mut *file, report)?;
            writeln!(file)?;
        }
        Ok(())
    })
}

/// One row per number, its place in the object as a dotted name.
fn csv_text(report: &Value) -> String {
    let mut text = String::from("metric,value\n");
    flatten("", report, &mut text);
    text
}

fn flatten(name: &str, value: &Value, text: &mut String) {
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| flatten(&below(k), v, text)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| flatten(&below(&i.to_string()), v, text));
        }
        Value::Null => *text += &format!("{},\n", quoted(name)),
        Value::String(s) => *text += &format!("{},{}\n", quoted(name), quoted(s)),
        Value::Bool(_) | Value::Number(_) => *text += &format!("{},{value}\n", quoted(name)),
    }
}

/// Quotes a field as RFC 4180 asks.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_row_and_odd_text_is_quoted() {
        let value = serde_json::json!({
            "ms": { "frame": { "p50": 1.5 } },
            "list": [true, null],
            "name": "a \"b\", c",
        });
        let text = csv_text(&value);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "metric,value");
        for line in ["ms.frame.p50,1.5", "list.0,true", "list.1,", "name,\"a \"\"b\"\", c\""] {
            assert!(lines.contains(&line), "{text}");
        }
        assert_eq!(lines.len(), 5);
    }
}
