//! A headless Chromium, spoken to over its debugging pipe.
//!
//! Messages are JSON ended by a zero byte, on the descriptors 3 and 4 of the browser; a shell connects those to the
//! child's standard input and output, so that neither ports nor sockets are needed. Without a Chromium the tests say so
//! and pass: see [`Chromium::launch`].

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One browser at a time: it draws in software, on all cores.
static TURN: Mutex<()> = Mutex::new(());

/// Longest wait for the page to do something.
const PATIENCE: Duration = Duration::from_secs(60);

/// The wanted frame is shown, the run is known, and no picture is under way.
const REST: &str = "globalThis.billow && billow.player.shown !== null && !billow.player.waiting && billow.hasBox \
    && billow.rows.length === billow.player.available.length && !billow.pending";

/// A browser with one page.
pub(crate) struct Chromium {
    child: Child,
    input: ChildStdin,
    /// Messages of the browser, without their zero byte.
    output: Receiver<Vec<u8>>,
    session: String,
    next: u64,
    /// Errors and warnings of the page.
    pub(crate) complaints: Vec<String>,
    _profile: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// A picture of the page: red, green and blue of each pixel.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) rgb: Vec<[u8; 3]>,
}

impl Chromium {
    /// Opens an address in a window of the given size. Nothing, with a printed reason, where no Chromium is installed.
    pub(crate) fn launch(url: &str, width: u32, height: u32) -> Option<Self> {
        let Some(program) = find() else {
            println!(
                "skipped: no Chromium found; install one (apt-get install chromium) or name it in BILLOW_CHROMIUM"
            );
            return None;
        };
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", "exec 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null; exec \"$0\" \"$@\"", &program])
            .args(["--headless", "--no-sandbox", "--remote-debugging-pipe", "--use-angle=swiftshader"])
            .args([
                "--enable-unsafe-swiftshader",
                "--disable-background-networking",
                "--disable-dev-shm-usage",
            ])
            .args(["--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"])
            .args(["--no-first-run", "--mute-audio", "--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut pipe = BufReader::new(child.stdout.take().unwrap());
        let (sender, output) = channel();
        // A thread of its own, so that a browser that falls silent fails a test instead of stopping it.
        std::thread::spawn(move || {
            loop {
                let mut bytes = Vec::new();
                let ended = pipe.read_until(0, &mut bytes).is_err() || bytes.pop() != Some(0);
                if ended || sender.send(bytes).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            input,
            output,
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
            _profile: profile,
            _turn: turn,
        };
        browser.session = browser.open_page();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.call("Page.bringToFront", json!({}));
        browser.resize(width, height);
        browser.call("Page.navigate", json!({ "url": url }));
        Some(browser)
    }

    fn open_page(&mut self) -> String {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        attached["sessionId"].as_str().unwrap().to_string()
    }

    /// Changes the size of the window.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Calls a method and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.input.flush().unwrap();
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let bytes = self.output.recv_timeout(PATIENCE).expect("the browser answers");
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(params["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if params["type"] != "log" && params["type"] != "debug" => {
                self.complaints.push(params["args"].to_string());
            }
            Some("Log.entryAdded") if params["entry"]["level"] != "verbose" => {
                self.complaints.push(params["entry"].to_string());
            }
            _ => {}
        }
        message
    }

    /// The value of an expression; promises are waited for.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        while self.eval(&format!("Boolean({expression})")) != true {
            assert!(start.elapsed() < PATIENCE, "never: {expression}; {:?}", self.complaints);
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until the wanted frame is shown and nothing moves.
    pub(crate) fn wait_for_rest(&mut self) {
        self.wait(REST);
        // Two pictures later everything has reached the screen.
        self.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
        self.wait("!billow.pending");
    }

    /// Presses and releases a key.
    pub(crate) fn key(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        let code = match key {
            " " => "Space".to_string(),
            k if k.chars().count() == 1 => format!("Key{}", k.to_uppercase()),
            k => k.to_string(),
        };
        let number = if key == "Escape" { 27 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": code, "text": text, "windowsVirtualKeyCode": number });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Clicks the middle of the element that a selector finds.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{ block: 'nearest' }}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()",
            json!(selector)
        ));
        self.mouse("mousePressed", &place, 1);
        self.mouse("mouseReleased", &place, 1);
    }

    /// Moves or presses the mouse at `[x, y]`.
    pub(crate) fn mouse(&mut self, kind: &str, place: &Value, buttons: u32) {
        let button = if buttons == 1 { "left" } else { "none" };
        let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": button, "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Puts fingers on the screen, moves them, or with none takes them off.
    pub(crate) fn touch(&mut self, kind: &str, fingers: &[[f64; 2]]) {
        let points: Vec<Value> =
            fingers.iter().enumerate().map(|(k, [x, y])| json!({ "x": x, "y": y, "id": k })).collect();
        self.call("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
    }

    /// What the system says about its screen and its reader's wishes.
    pub(crate) fn system(&mut self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// The page as it stands on the screen.
    pub(crate) fn picture(&mut self) -> Picture {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = from_base64(shot["data"].as_str().unwrap());
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().unwrap();
        let mut samples = vec![0; reader.output_buffer_size().unwrap()];
        let shown = reader.next_frame(&mut samples).unwrap();
        let (width, height) = (shown.width as usize, shown.height as usize);
        let rgb: Vec<[u8; 3]> =
            samples.chunks_exact(shown.color_type.samples()).map(|c| [c[0], c[1], c[2]]).collect();
        assert_eq!(rgb.len(), width * height);
        Picture { width, height, rgb }
    }

    /// The part of the page that shows the simulation.
    pub(crate) fn stage(&mut self) -> Picture {
        let all = self.picture();
        let place = self.eval(
            "(() => { const b = document.getElementById('picture').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()",
        );
        let [x, y, width, height] = [0, 1, 2, 3].map(|k| place[k].as_f64().unwrap() as usize);
        let rows = (y..y + height).flat_map(|row| &all.rgb[row * all.width + x..row * all.width + x + width]);
        Picture { width, height, rgb: rows.copied().collect() }
    }

    /// Fails if the page has complained.
    pub(crate) fn assert_quiet(&mut self) {
        self.eval("1");
        assert!(self.complaints.is_empty(), "the console shows:\n{}", self.complaints.join("\n"));
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The shell has become the browser: ending it ends the pages.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Picture {
    /// Pixels whose colours differ by more than `tolerance` in some channel.
    pub(crate) fn differences(&self, other: &Self, tolerance: u8) -> Vec<bool> {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let far = |(a, b): (&[u8; 3], &[u8; 3])| a.iter().zip(b).any(|(x, y)| x.abs_diff(*y) > tolerance);
        self.rgb.iter().zip(&other.rgb).map(far).collect()
    }

    /// Number of pixels that differ visibly.
    pub(crate) fn distance(&self, other: &Self) -> usize {
        self.differences(other, 12).iter().filter(|d| **d).count()
    }
}

fn find() -> Option<String> {
    if let Ok(given) = std::env::var("BILLOW_CHROMIUM") {
        return Some(given);
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let candidates = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|path| path.is_file()).map(|path| path.display().to_string())
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.as_bytes().chunks(4) {
        let digits = group.iter().take_while(|c| **c != b'=').count();
        let word =
            group.iter().take(digits).fold(0u32, |w, c| w << 6 | u32::from(value(*c))) << (6 * (4 - digits));
        out.extend_from_slice(&word.to_be_bytes()[1..digits.max(1)]);
    }
    out
}
