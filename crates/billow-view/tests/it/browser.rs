//! The page in a real browser: every control does what it says, and the console stays silent.

use crate::chromium::Chromium;
use crate::scene;
use billow_view::{Options, Server};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) fn serve(frames: u32) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    scene::write(&run, frames, 16, Duration::ZERO).unwrap();
    let server = Server::open(&run, &Options::default()).unwrap();
    (folder, server)
}

#[test]
fn plays_scrubs_shades_and_hides_without_an_error() {
    let (_folder, server) = serve(12);
    let Some(mut page) = Chromium::launch(&server.url(), 800, 520) else { return };
    page.wait_for_rest();
    assert_eq!(page.eval("billow.player.shown"), 0);
    assert_eq!(page.eval("document.getElementById('title').textContent"), "One of each kind");

    // Playing moves on and comes around; pausing stays.
    page.eval("billow.player.speed = 0.5");
    page.click("#play");
    page.wait("billow.player.shown >= 3");
    page.wait("billow.player.shown <= 1");
    page.key(" ");
    assert_eq!(page.eval("billow.player.playing"), false);
    let shown = page.eval("billow.player.shown");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(page.eval("billow.player.shown"), shown);

    // Scrubbing: by keys, by the slider, by number, to both ends.
    page.key("End");
    page.wait("billow.player.shown === 11");
    page.key("ArrowLeft");
    page.wait("billow.player.shown === 10");
    page.key("Home");
    page.wait("billow.player.shown === 0");
    let slider = page.eval("(() => { const b = document.getElementById('scrub').getBoundingClientRect(); return [b.x + b.width * 0.63, b.y + b.height / 2]; })()");
    page.mouse("mousePressed", &slider, 1);
    page.mouse("mouseReleased", &slider, 1);
    page.wait("billow.player.shown === 7");
    page.wait("location.hash.includes('frame=7')");

    // Each shading mode looks different from all others.
    let mut pictures = BTreeMap::new();
    for mode in ["smooth", "flat", "wire", "normal", "heat"] {
        page.eval(&format!("document.querySelector('input[value={mode}]').click()"));
        page.wait_for_rest();
        assert_eq!(page.eval("billow.view.shading"), mode);
        pictures.insert(mode, page.stage());
    }
    for (a, b) in
        [("smooth", "flat"), ("smooth", "wire"), ("smooth", "normal"), ("smooth", "heat"), ("wire", "flat")]
    {
        let pixels = pictures[a].distance(&pictures[b]);
        assert!(pixels > 300, "{a} and {b} differ in {pixels} pixels");
    }

    // Every field can be shown, with its unit and range.
    assert_eq!(page.eval("document.getElementById('legend').hidden"), false);
    let fields = page.eval("[...document.getElementById('field').options].map((o) => o.value)");
    for field in ["strain", "contact_count", "velocity", "speed", "stretch", "age [s]"] {
        assert!(fields.as_array().unwrap().iter().any(|f| f == field), "{field} is not offered: {fields}");
        page.eval(&format!("(() => {{ const s = document.getElementById('field'); s.value = '{field}'; s.dispatchEvent(new Event('change')); }})()"));
        page.wait_for_rest();
        let range = page.eval("billow.view.heatRange");
        assert!(range[1].as_f64().unwrap() > range[0].as_f64().unwrap(), "{field}: {range}");
    }
    assert_eq!(page.eval("document.getElementById('legend-unit').textContent"), "[s]");
    page.key("1");

    // Hiding an object takes it out of the picture, and the link brings it back so.
    page.wait_for_rest();
    let all = page.stage();
    page.click("[aria-label='Show sheet']");
    page.wait_for_rest();
    let without = page.stage();
    assert!(all.distance(&without) > 2000, "hiding the sheet changes {} pixels", all.distance(&without));
    page.wait("location.hash.includes('hide=sheet')");
    page.click("#show-all");
    page.wait_for_rest();
    assert!(page.stage().distance(&all) < 50, "it comes back as it was");

    // Fog is there.
    page.click("[aria-label='Show smoke']");
    page.wait_for_rest();
    let clear = page.stage().distance(&all);
    assert!(clear > 200, "hiding the smoke changes {clear} pixels");

    page.assert_quiet();
}

#[test]
fn camera_panels_and_keys_work() {
    let (_folder, server) = serve(4);
    let Some(mut page) = Chromium::launch(&server.url(), 800, 520) else { return };
    page.wait_for_rest();
    let start = page.stage();

    // Dragging orbits, the wheel zooms, F brings the first view back.
    let place = |x: f64, y: f64| serde_json::json!([x, y]);
    page.mouse("mousePressed", &place(300.0, 300.0), 1);
    page.mouse("mouseMoved", &place(420.0, 330.0), 1);
    page.mouse("mouseReleased", &place(420.0, 330.0), 1);
    page.wait_for_rest();
    assert!(page.stage().distance(&start) > 5000, "orbiting moves the picture");
    page.wait("location.hash.includes('camera=')");
    let distance = page.eval("billow.camera.place.distance").as_f64().unwrap();
    page.eval("document.getElementById('picture').dispatchEvent(new WheelEvent('wheel', { deltaY: 120, cancelable: true }))");
    page.wait("!billow.pending");
    page.wait_for_rest();
    assert!(page.eval("billow.camera.place.distance").as_f64().unwrap() > 1.1 * distance);
    page.key("+");
    page.key("w");
    page.key("f");
    page.wait_for_rest();
    let framed = page.eval("billow.everything().every((p) => { const v = billow.camera.view(); const m = billow.camera.projection(billow.aspect); \
        const t = (m, p) => [0,1,2,3].map((r) => m[r]*p[0]+m[4+r]*p[1]+m[8+r]*p[2]+m[12+r]*(p[3]??1)); const c = t(m, t(v, p)); \
        return Math.abs(c[0]) < c[3] && Math.abs(c[1]) < c[3]; })");
    assert_eq!(framed, true, "everything is in the picture");

    // Panels, plots, overlay, theme, picture.
    page.click("#tab-statistics");
    page.wait("document.querySelectorAll('#plots figure').length === 4");
    assert!(
        page.eval("document.querySelector('#plots canvas').getAttribute('aria-label')")
            .as_str()
            .unwrap()
            .contains("Seconds")
    );
    page.click("#plots canvas");
    page.wait("billow.player.wanted > 0");
    page.key("?");
    page.wait("document.getElementById('help').open");
    page.key("Escape");
    page.wait("!document.getElementById('help').open");
    let dark = page.eval("billow.theme.dark");
    page.key("t");
    assert_ne!(page.eval("billow.theme.dark"), dark);
    assert_ne!(page.eval("document.documentElement.dataset.theme === 'dark'"), dark);
    page.eval("(HTMLAnchorElement.prototype.click = function () { globalThis.saved = [this.download, this.href]; }, 1)");
    page.click("#screenshot");
    page.wait("globalThis.saved");
    let saved = page.eval("saved[0]");
    assert!(
        saved.as_str().unwrap().ends_with(".png") && saved.as_str().unwrap().starts_with("run-"),
        "{saved}"
    );
    page.key("b");
    page.wait("document.getElementById('panel').offsetWidth === 0");
    page.assert_quiet();
}

#[test]
fn every_control_has_a_name_and_a_narrow_screen_holds_them_all() {
    let (_folder, server) = serve(2);
    let Some(mut page) = Chromium::launch(&server.url(), 360, 640) else { return };
    page.wait_for_rest();
    for (width, height) in [(320, 560), (390, 800), (760, 500), (1280, 800)] {
        page.resize(width, height);
        page.wait_for_rest();
        let overflow = page.eval(
            "[...document.querySelectorAll('button, select, input, h1')].filter((e) => e.checkVisibility()).filter((e) => { \
             const b = e.getBoundingClientRect(); return b.width > 0 && (b.left < -1 || b.right > innerWidth + 1) && !e.closest('.panel'); }).map((e) => e.id || e.outerHTML)",
        );
        assert_eq!(overflow, serde_json::json!([]), "outside a window of {width} x {height}");
        assert_eq!(page.eval("document.documentElement.scrollWidth <= innerWidth"), true);
        let picture = page.eval("[document.getElementById('picture').clientWidth, document.getElementById('picture').clientHeight]");
        assert!(
            picture[1].as_u64().unwrap() > 150,
            "{picture} of {width} x {height} is left for the picture"
        );
    }
    page.call("Accessibility.enable", serde_json::json!({}));
    for tab in ["#tab-objects", "#tab-statistics", "#tab-view"] {
        page.eval("document.body.classList.remove('panel-closed')");
        page.eval(&format!("document.querySelector('{tab}').click()"));
        page.eval("billow.setShading('heat')");
        page.wait_for_rest();
        let tree = page.call("Accessibility.getFullAXTree", serde_json::json!({}));
        let roles =
            ["button", "slider", "checkbox", "radio", "combobox", "textbox", "searchbox", "tab", "switch"];
        let mut seen = 0;
        for node in tree["nodes"].as_array().unwrap().iter().filter(|n| n["ignored"] != true) {
            if roles.iter().any(|r| node["role"]["value"] == *r) {
                seen += 1;
                assert!(!node["name"]["value"].as_str().unwrap_or_default().is_empty(), "no name: {node}");
            }
        }
        assert!(seen > 20, "{seen} controls");
    }
    page.assert_quiet();
}

#[test]
fn a_running_simulation_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let server = Server::watch(&run, &Options::default()).unwrap();
    let Some(mut page) = Chromium::launch(&server.url(), 800, 500) else { return };
    page.wait("globalThis.billow?.run.version > 0");
    assert_eq!(page.eval("document.getElementById('empty').hidden"), false, "the page says that it waits");
    std::thread::scope(|scope| {
        scope.spawn(|| scene::write(&run, 20, 8, Duration::from_millis(150)).unwrap());
        page.wait("billow.player.available.length >= 2");
        assert!(
            page.eval("document.getElementById('status-text').textContent")
                .as_str()
                .unwrap()
                .contains("of 19")
        );
        page.wait("!document.getElementById('live').hidden");
        page.click("#live");
        page.wait("billow.player.shown >= 6");
        assert_eq!(page.eval("billow.player.follow"), true);
    });
    page.wait("billow.player.shown === 19");
    page.wait("document.getElementById('status').dataset.status === 'finished'");
    page.wait("document.getElementById('live').hidden");
    page.assert_quiet();
}

#[test]
fn a_page_whose_server_is_gone_says_so() {
    let (_folder, server) = serve(2);
    let Some(mut page) = Chromium::launch(&server.url(), 800, 500) else { return };
    page.wait_for_rest();
    drop(server);
    page.wait("document.getElementById('status').dataset.status === 'disconnected'");
    assert_eq!(page.eval("billow.player.shown"), 0, "what was loaded stays");
}
