//! The page on a phone, for a reader who wishes for less motion or a dark screen, and opened by a link.

use crate::browser::serve;
use crate::chromium::Chromium;
use serde_json::json;

#[test]
fn fingers_orbit_pan_and_pinch() {
    let (_folder, server) = serve(2);
    let Some(mut page) = Chromium::launch(&server.url(), 390, 780) else { return };
    page.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": true, "maxTouchPoints": 2 }));
    page.wait_for_rest();
    let place = |page: &mut Chromium| {
        let found = page
            .eval("[billow.camera.goal.azimuth, billow.camera.goal.distance, ...billow.camera.goal.target]");
        [0, 1, 2, 3, 4].map(|k| found[k].as_f64().unwrap())
    };
    let start = place(&mut page);
    page.touch("touchStart", &[[150.0, 250.0]]);
    page.touch("touchMove", &[[210.0, 260.0]]);
    page.touch("touchEnd", &[]);
    page.wait_for_rest();
    let turned = place(&mut page);
    assert!(
        (turned[0] - start[0]).abs() > 0.1 && turned[1] == start[1] && turned[2..] == start[2..],
        "one finger turns"
    );
    page.touch("touchStart", &[[150.0, 250.0], [250.0, 250.0]]);
    page.touch("touchMove", &[[125.0, 250.0], [275.0, 250.0]]);
    page.touch("touchEnd", &[]);
    page.wait_for_rest();
    let nearer = place(&mut page);
    let zoom = nearer[1] / turned[1];
    assert!(
        (zoom - 100.0 / 150.0).abs() < 0.02 && nearer[0] == turned[0],
        "a pinch to one and a half times: {zoom}"
    );
    page.touch("touchStart", &[[150.0, 250.0], [250.0, 250.0]]);
    page.touch("touchMove", &[[190.0, 250.0], [290.0, 250.0]]);
    page.touch("touchEnd", &[]);
    page.wait_for_rest();
    let moved = place(&mut page);
    assert!(
        (moved[1] / nearer[1] - 1.0).abs() < 0.02 && moved[2..] != nearer[2..],
        "two fingers carry the picture"
    );
    page.assert_quiet();
}

#[test]
fn the_system_decides_about_dark_and_motion_until_the_reader_does() {
    let (_folder, server) = serve(3);
    let Some(mut page) = Chromium::launch(&server.url(), 700, 480) else { return };
    page.system("prefers-color-scheme", "light");
    page.wait_for_rest();
    let light = page.picture();
    page.system("prefers-color-scheme", "dark");
    page.wait("document.documentElement.dataset.theme === 'dark'");
    page.wait_for_rest();
    let dark = page.picture();
    let brightness = |p: &crate::chromium::Picture| {
        p.rgb.iter().flatten().map(|c| f64::from(*c)).sum::<f64>() / (3 * p.rgb.len()) as f64
    };
    assert!(brightness(&dark) < 0.5 * brightness(&light), "{} {}", brightness(&dark), brightness(&light));
    page.key("t");
    page.system("prefers-color-scheme", "dark");
    assert_eq!(page.eval("document.documentElement.dataset.theme"), "light", "the reader has chosen");

    // With less motion the camera is where it should be in the next picture; otherwise it glides there.
    let glide = |page: &mut Chromium| {
        page.wait_for_rest();
        page.eval("(billow.camera.zoom(3), billow.cameraMoved(), 1)");
        page.wait_for_rest();
        page.eval("new Promise((done) => { const goal = billow.camera.goal; billow.frameAll(); let n = 0; \
            const look = () => { n++; const c = billow.camera; Math.abs(c.place.distance / c.goal.distance - 1) < 1e-3 ? done(n) : requestAnimationFrame(look); }; \
            requestAnimationFrame(look); })")
            .as_u64()
            .unwrap()
    };
    let gliding = glide(&mut page);
    page.system("prefers-reduced-motion", "reduce");
    page.wait("billow.camera.reducedMotion");
    let jumping = glide(&mut page);
    assert!(jumping <= 2 && gliding > jumping, "{gliding} pictures with motion, {jumping} without");
    assert_eq!(page.eval("getComputedStyle(document.getElementById('busy')).transitionDuration"), "0s");
    page.assert_quiet();
}

#[test]
fn a_link_opens_the_same_view() {
    let (_folder, server) = serve(6);
    let link = "#frame=4&shading=heat&field=strain&hide=smoke&hide=fountain&camera=4,-3,2.5,0.2,0.1,0.6";
    let Some(mut page) = Chromium::launch(&format!("{}{link}", server.url()), 800, 520) else { return };
    page.wait_for_rest();
    let state = page.eval("[billow.player.shown, billow.view.shading, billow.store.field, [...billow.view.hidden].sort().join()]");
    assert_eq!(state, json!([4, "heat", "strain", "fountain,smoke"]));
    assert_eq!(page.eval("document.getElementById('field').value"), "strain");
    // The legend shows the range of the colours, in the unit and over what it says.
    let shown = page.eval("[document.getElementById('range-low').value, document.getElementById('range-high').value].map((x) => Number(x.replace('\u{2212}', '-')))");
    let range = page.eval("billow.view.heatRange");
    for k in 0..2 {
        let (a, b) = (shown[k].as_f64().unwrap(), range[k].as_f64().unwrap());
        assert!((a - b).abs() < 0.02 * b.abs().max(1e-3), "{shown} stands for {range}");
    }
    // The last details may come a little later than the rest.
    let mut first = page.stage();
    for _ in 0..20 {
        std::thread::sleep(std::time::Duration::from_millis(250));
        let next = page.stage();
        let still = next.distance(&first) == 0;
        first = next;
        if still {
            break;
        }
    }

    // What the page then says of itself leads to the same picture again.
    page.key("c");
    page.wait("location.hash.includes('camera=')");
    let address = page.eval("location.href");
    page.call("Page.navigate", json!({ "url": "about:blank" }));
    page.call("Page.navigate", json!({ "url": address }));
    page.wait_for_rest();
    page.wait("document.getElementById('notice').hidden");
    let mut apart = page.stage().distance(&first);
    for _ in 0..20 {
        if apart < 60 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(250));
        apart = page.stage().distance(&first);
    }
    assert!(apart < 60, "{apart} pixels differ");

    // Particles are there, each where its attribute colours it.
    page.eval("billow.setVisible('fountain', true)");
    page.wait_for_rest();
    let sprayed = page.stage().distance(&first);
    assert!(sprayed > 300, "the fountain changes {sprayed} pixels");
    page.assert_quiet();
}

#[test]
fn a_saved_picture_shows_what_the_screen_shows() {
    let (_folder, server) = serve(2);
    let Some(mut page) = Chromium::launch(&server.url(), 640, 460) else { return };
    page.wait_for_rest();
    page.eval("(HTMLAnchorElement.prototype.click = function () {}, URL.createObjectURL = (blob) => { globalThis.saved = blob; return 'about:blank'; }, 1)");
    page.key("p");
    page.wait("globalThis.saved");
    // The middle row of the file beside that of the canvas as it is drawn now.
    let apart = page.eval(
        "(async () => { const image = await createImageBitmap(saved); const w = image.width, h = image.height; \
         const read = (source) => { const c = new OffscreenCanvas(w, h); const x = c.getContext('2d'); x.drawImage(source, 0, 0); return x.getImageData(0, h >> 1, w, 1).data; }; \
         billow.renderer.draw(billow.camera, billow.view); const shown = read(billow.canvas), kept = read(image); \
         let n = 0, colours = new Set(); for (let k = 0; k < w * 4; k += 4) { colours.add(kept[k] << 16 | kept[k + 1] << 8 | kept[k + 2]); \
         if ([0, 1, 2].some((c) => Math.abs(shown[k + c] - kept[k + c]) > 8)) n++; } \
         return [saved.type, w === billow.canvas.width && h === billow.canvas.height, n, colours.size]; })()",
    );
    assert_eq!((&apart[0], &apart[1]), (&json!("image/png"), &json!(true)), "{apart}");
    assert!(apart[2].as_u64().unwrap() < 10 && apart[3].as_u64().unwrap() > 20, "{apart}");
    page.assert_quiet();
}
