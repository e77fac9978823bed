#![allow(clippy::all, clippy::unwrap_used, clippy::print_stderr)]
#[path = "time/world.rs"]
#[allow(dead_code)]
mod world;
use std::{fs, time::Instant, path::Path};
use octo_protocol::TurnId;
fn stat_walk(folder: &Path) -> usize {
    use std::sync::Mutex;
    let dirs: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    let queue = Mutex::new(dirs);
    std::thread::scope(|s| {
        let hs: Vec<_> = (0..2).map(|_| s.spawn(|| { let mut n = 0; loop { let Some(d) = queue.lock().unwrap().pop() else { break n }; for e in fs::read_dir(d).unwrap() { let e = e.unwrap(); let m = e.metadata().unwrap(); n += usize::from(m.len() > 0); } } })).collect();
        hs.into_iter().map(|h| h.join().unwrap()).sum()
    })
}
fn mem(line: &str) -> f64 { let s = fs::read_to_string("/proc/self/status").unwrap(); let f = s.lines().find_map(|l| l.strip_prefix(line)).unwrap().trim().trim_end_matches("kB").trim().parse::<f64>().unwrap(); f * 1024.0 / 1e6 }
#[test]
#[ignore]
fn throwaway() {
    let home = world::Home::new();
    let world = home.world();
    let folder = world.folder();
    for d in 0..1000 { let below = folder.join(format!("d{d}")); fs::create_dir_all(&below).unwrap(); for f in 0..100 { fs::write(below.join(format!("f{f}.txt")), format!("line of file {f} in folder {d}\n").repeat(10 + (d * 7 + f * 13) % 90)).unwrap(); } }
    let task = world.machine.begin_task(world.session, TurnId::new(), &folder, "m").unwrap();
    let rss = mem("VmRSS:"); let _ = fs::write("/proc/self/clear_refs", "5");
    let t = Instant::now(); let r = world.machine.before_command(task, &folder).unwrap();
    eprintln!("first {:?}, peak {:.1} MB more", t.elapsed(), mem("VmHWM:") - rss);
    let t = Instant::now(); world.machine.after_command(&r).unwrap(); eprintln!("second {:?}", t.elapsed());
    for round in 0..8 {
        let t = Instant::now(); let n = stat_walk(&folder); let walk = t.elapsed();
        let t = Instant::now(); let r = world.machine.before_command(task, &folder).unwrap(); let before = t.elapsed();
        for f in 0..5 { fs::write(folder.join(format!("d{}/f0.txt", (round * 37 + f * 101) % 1000)), format!("round {round} {f}")).unwrap(); }
        let t = Instant::now(); let c = world.machine.after_command(&r).unwrap(); let after = t.elapsed();
        eprintln!("{n} stat walk {walk:?} before {before:?} after {after:?} changed {c}");
    }
    let t = Instant::now(); world.machine.end_task(task).unwrap(); eprintln!("end {:?}", t.elapsed());
    eprintln!("load {}", fs::read_to_string("/proc/loadavg").unwrap());
    home.store.close();
}
