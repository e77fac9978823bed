//! From the start of the process to a window that shows its page and accepts a key, and its memory afterwards.

use crate::{
    memory, say,
    seed::SeededHome,
    table::{Figures, Table, Unit},
};
use anyhow::{Context as _, Result, ensure};
use octo_tests::{Application, BareApplication, Desktop, Theme};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

/// Measured starts. A start before them fills the caches.
const RUNS: usize = 7;
/// The goal of the project's second issue for a painted window, in milliseconds.
const PAINTED: f64 = 1_000.0;
/// Maximum delay compared with a plain Tauri window, in milliseconds (the last issue's goal).
const LATER: f64 = 300.0;
/// Maximum additional memory compared with a plain Tauri window, in millions of bytes (the last issue's goal).
const MORE: f64 = 60.0;
/// How long it is idle before its memory is measured.
const IDLE: Duration = Duration::from_secs(5);
/// Cold starts: the program's files are not in memory yet.
const COLD_RUNS: usize = 3;
/// Clock ticks per second in which the kernel reports a process's start (`USER_HZ`, 100 on every Linux).
const TICKS: f64 = 100.0;

/// Adds the rows.
///
/// # Errors
/// When the window does not open, or no desktop is available.
pub async fn measure(table: &mut Table, seeded: &SeededHome) -> Result<()> {
    if !cfg!(target_os = "linux") {
        say("the window is only measured on Linux: only there is a private desktop");
        return Ok(());
    }
    let desktop = Desktop::start()?;
    let home = seeded.home.octo();
    let plain_window =
        std::env::var_os("OCTO_PLAIN_WINDOW").context("OCTO_PLAIN_WINDOW: cargo xtask bench sets it")?;
    let plain_window = PathBuf::from(plain_window);
    let (mut painted, mut later) = (Vec::new(), Vec::new());
    let (mut memories, mut more): (Vec<BTreeMap<String, f64>>, Vec<f64>) = (Vec::new(), Vec::new());
    // Alternating, so that other load of the machine affects both.
    for _ in 0..=RUNS {
        let (least, least_memory) = bare(BareApplication::start_other(&desktop, &plain_window)?)?;
        let (elapsed, memory) = bare(BareApplication::start(&desktop, &home)?)?;
        later.push((elapsed.as_secs_f64() - least.as_secs_f64()) * 1e3);
        more.push(memory.values().sum::<f64>() - least_memory.values().sum::<f64>());
        painted.push(elapsed);
        memories.push(memory);
    }
    let mut cold = Vec::new();
    for _ in 0..COLD_RUNS {
        cold.push(from_disk(&desktop, &home)?);
    }
    let (mut contents, mut keys) = (Vec::new(), Vec::new());
    for _ in 0..=RUNS {
        let (content, key) = driven(&desktop, &home).await?;
        contents.push(content);
        keys.push(key);
    }
    let label = "From process start to";
    let figures = Figures::of_times(&painted[1..])?;
    table.add_with_goal(format!("{label} a painted window"), Unit::Milliseconds, figures, PAINTED);
    table.add(
        format!("{label} a painted window, the program and its libraries read from the disk"),
        Unit::Milliseconds,
        Figures::of_times(&cold)?,
    );
    let later = Figures::of(later[1..].iter().copied())?;
    table.add_with_goal(
        "A painted window, later than a plain Tauri window",
        Unit::Milliseconds,
        later,
        LATER,
    );
    let contents = Figures::of_times(&contents[1..])?;
    table.add(format!("{label} the page's first content, by its own clock"), Unit::Milliseconds, contents);
    table.add(format!("{label} an accepted first key"), Unit::Milliseconds, Figures::of_times(&keys[1..])?);

    let memories = &memories[1..];
    let totals = Figures::of(memories.iter().map(|memory| memory.values().sum()))?;
    table.add("Memory (PSS) of all processes, idle", Unit::Megabytes, totals);
    let more = Figures::of(more[1..].iter().copied())?;
    table.add_with_goal("Memory (PSS), more than a plain Tauri window", Unit::Megabytes, more, MORE);
    for name in memories[0].keys() {
        let of_one = Figures::of(memories.iter().map(|memory| memory.get(name).copied().unwrap_or(0.0)))?;
        table.add(format!("— of it `{name}`"), Unit::Megabytes, of_one);
    }
    sizes(table)?;
    table.note(
        "The window is opened on the home of 10,000 sessions, on a virtual screen without a graphics card. It is \
         painted when the middle of it shows letters; the key is typed and read back through WebKit's driver, \
         whose own time is in the figure. Memory that other running programs share with it, another \
         webview for one, counts in part only.",
    );
    Ok(())
}

/// Adds the disk sizes: of the measured program, and of packages built before, if any.
fn sizes(table: &mut Table) -> Result<()> {
    let size = |path: &Path| -> Result<Figures> {
        let bytes = fs::metadata(path).with_context(|| path.display().to_string())?.len();
        Figures::of([bytes as f64 / 1e6])
    };
    let program = PathBuf::from(std::env::var_os("OCTO_APP").context("OCTO_APP: cargo xtask bench sets it")?);
    table.add("Size of the program measured here", Unit::Megabytes, size(&program)?);
    let target = program.parent().and_then(Path::parent).context("a program in its profile's folder")?;
    for (folder, ending) in [("deb", "deb"), ("rpm", "rpm"), ("appimage", "AppImage")] {
        let Ok(found) = fs::read_dir(target.join("release/bundle").join(folder)) else { continue };
        for package in found.filter_map(|entry| Some(entry.ok()?.path())) {
            if package.extension().is_some_and(|extension| extension == ending) {
                table.add(format!("Size of the package `.{ending}`"), Unit::Megabytes, size(&package)?);
            }
        }
    }
    Ok(())
}

/// Measures a start like the person's, and the memory after a while.
fn bare(mut app: BareApplication) -> Result<(Duration, BTreeMap<String, f64>)> {
    let elapsed = app.painted()?;
    thread::sleep(IDLE);
    let memory = memory::proportional(app.process())?;
    ensure!(memory.len() > 1, "the webview's processes are among {memory:?}");
    app.close()?;
    Ok((elapsed, memory))
}

/// Measures a start whose program and libraries are read from the disk: those of an earlier start are evicted
/// from memory, unless other programs of the machine use them.
fn from_disk(desktop: &Desktop, home: &Path) -> Result<Duration> {
    let mut app = BareApplication::start(desktop, home)?;
    app.painted()?;
    let maps = fs::read_to_string(format!("/proc/{}/maps", app.process()))?;
    app.close()?;
    let files: BTreeSet<&str> =
        maps.lines().filter_map(|line| line.find('/').and_then(|index| line.get(index..))).collect();
    for file in files.into_iter().filter(|file| Path::new(file).is_file()) {
        // GNU's dd asks the system to drop a file's cache without reading it.
        let mut dd = Command::new("dd");
        dd.arg(format!("if={file}")).args(["iflag=nocache", "count=0", "status=none"]);
        ensure!(dd.status().context("dd")?.success(), "{file} could not be put out of memory");
    }
    let mut app = BareApplication::start(desktop, home)?;
    let elapsed = app.painted()?;
    app.close()?;
    Ok(elapsed)
}

/// Measures a start with a driver, which types into the message field and reads it: when the page first
/// painted, and when the key arrived.
async fn driven(desktop: &Desktop, home: &Path) -> Result<(Duration, Duration)> {
    let app = Application::open(desktop, home, Theme::Light).await?;
    app.type_into("composer", "x").await?;
    let read = "return document.querySelector('[data-testid=composer]').value.endsWith('x')";
    app.until("the key to be in the field", async || Ok((app.script(read).await? == true).then_some(())))
        .await?;
    let key = age(app.process()?)?;
    let script = "const [paint] = performance.getEntriesByName('first-contentful-paint'); \
                 return performance.now() - paint.startTime";
    let script =
        app.script(script).await?.as_f64().context("how long ago the page painted, in milliseconds")?;
    let content = age(app.process()?)?.saturating_sub(Duration::from_secs_f64(script / 1e3));
    app.close().await?;
    Ok((content, key))
}

/// Returns how long a process has run, to about a hundredth of a second.
fn age(process: u32) -> Result<Duration> {
    let uptime = fs::read_to_string("/proc/uptime")?;
    let uptime_seconds: f64 =
        uptime.split(' ').next().context("the time since the start of the machine")?.parse()?;
    let start: f64 = memory::stat(process, 19).context("the application runs")?.parse()?;
    Ok(Duration::from_secs_f64((uptime_seconds - start / TICKS).max(0.0)))
}
