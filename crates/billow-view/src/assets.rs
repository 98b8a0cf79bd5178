//! The page itself, embedded in the program.

/// Content type and bytes of a file of the page; `""` is the page.
pub(crate) fn asset(name: &str) -> Option<(&'static str, &'static [u8])> {
    FILES.iter().find(|(n, _)| *n == name).map(|(name, bytes)| (content_type(name), *bytes))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

macro_rules! files {
    ($($name:literal)*) => {
        &[("", include_bytes!("../page/index.html")), $(($name, include_bytes!(concat!("../page/", $name)))),*]
    };
}

const FILES: &[(&str, &[u8])] = files! {
    "style.css" "icon.svg" "main.js" "app.js" "camera.js" "colours.js" "controls.js" "format.js" "frames.js"
    "gestures.js" "groups.js" "legend.js" "linalg.js" "link.js" "objects.js" "player.js" "plots.js" "renderer.js" "resources.js"
    "shaders.js" "shortcuts.js" "theme.js" "timeline.js" "types.js" "wire.js" "wireframe.js"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_import_of_the_page_is_embedded_and_every_file_is_used() {
        let texts: Vec<&str> = FILES.iter().map(|(_, bytes)| std::str::from_utf8(bytes).unwrap()).collect();
        let all = texts.join("\n");
        let imports = all.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next());
        for name in imports {
            assert!(asset(name).is_some(), "{name} is imported and not embedded");
        }
        for (name, _) in FILES.iter().filter(|(name, _)| !name.is_empty()) {
            assert!(
                all.contains(&format!("\"./{name}\"")) || all.contains(&format!("=\"{name}\"")),
                "{name} is unused"
            );
        }
    }

    #[test]
    fn the_page_asks_for_nothing_from_elsewhere() {
        for (name, bytes) in FILES {
            let text = std::str::from_utf8(bytes).unwrap();
            let namespaces = ["http://www.w3.org/2000/svg"];
            let plain = namespaces.iter().fold(text.to_string(), |t, n| t.replace(n, ""));
            assert!(!plain.contains("http://") && !plain.contains("https://"), "{name} holds an address");
        }
    }
}
