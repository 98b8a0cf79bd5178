//! Object names that file systems and USD accept.

use std::collections::{HashMap, HashSet};

/// Gives every object name a valid, unique form, always the same one.
pub(crate) struct Names {
    /// Whether a name may start with a digit and hold `-` and `.`.
    file_names: bool,
    given: HashMap<String, String>,
    taken: HashSet<String>,
}

impl Names {
    /// Names that are USD identifiers: ASCII letters, digits and `_`, no digit first.
    pub(crate) fn identifiers() -> Self {
        Self { file_names: false, given: HashMap::new(), taken: HashSet::new() }
    }

    /// Names that are safe as file names everywhere.
    pub(crate) fn file_names() -> Self {
        Self { file_names: true, given: HashMap::new(), taken: HashSet::new() }
    }

    /// Keeps a name for other uses.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// The valid form of `name`.
    pub(crate) fn get(&mut self, name: &str) -> &str {
        self.get_with(name, &[""])
    }

    /// The valid form of `name` which is also unique with these endings.
    pub(crate) fn get_with(&mut self, name: &str, endings: &[&str]) -> &str {
        if !self.given.contains_key(name) {
            let base = self.valid(name);
            // File systems may not tell upper from lower case.
            let key = |text: String| if self.file_names { text.to_ascii_lowercase() } else { text };
            let free =
                |text: &str| endings.iter().all(|end| !self.taken.contains(&key(format!("{text}{end}"))));
            let mut unique = base.clone();
            let mut number = 2;
            while !free(&unique) {
                unique = format!("{base}_{number}");
                number += 1;
            }
            let keys: Vec<String> = endings.iter().map(|end| key(format!("{unique}{end}"))).collect();
            self.taken.extend(keys);
            self.given.insert(name.to_owned(), unique);
        }
        &self.given[name]
    }

    fn valid(&self, name: &str) -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || (self.file_names && c == '-');
        let mut valid: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).take(100).collect();
        if valid.is_empty() {
            valid.push_str("object");
        }
        // Names such as CON or COM1 are devices on Windows.
        let device = matches!(valid.to_ascii_uppercase().as_str(), "CON" | "PRN" | "AUX" | "NUL")
            || (valid.len() == 4 && ["COM", "LPT"].contains(&valid[..3].to_ascii_uppercase().as_str()));
        if (!self.file_names && valid.starts_with(|c: char| c.is_ascii_digit()))
            || (self.file_names && device)
        {
            valid.insert(0, '_');
        }
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_valid_and_stay_unique() {
        let mut names = Names::identifiers();
        assert_eq!(names.get("sheet"), "sheet");
        assert_eq!(names.get("Körper/1"), "K_rper_1");
        assert_eq!(names.get("Körper 1"), "K_rper_1_2");
        assert_eq!(names.get("Körper/1"), "K_rper_1");
        assert_eq!(names.get("1st"), "_1st");
        assert_eq!(names.get(""), "object");
        assert_eq!(names.get("布"), "_");
        names.reserve("x");
        assert_eq!(names.get("x"), "x_2");
        assert_eq!((names.get("v_x").to_owned(), names.get_with("v", &["_x", "_y"])), ("v_x".into(), "v_2"));
        let mut names = Names::file_names();
        assert_eq!(names.get("../etc/passwd"), "___etc_passwd");
        assert_eq!(names.get("a-b"), "a-b");
        assert_eq!(names.get("A-B"), "A-B_2");
        assert_eq!(names.get("con"), "_con");
    }
}
