use anyhow::Result;
use octo_tests::{Application, Desktop, Theme};
use std::{
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

#[tokio::test]
#[ignore = "tmp"]
async fn startup_timeline() -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    for round in 0..4 {
        let before = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3;
        let app = Application::open(&desktop, &home, Theme::Light).await?;
        let opened = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3;
        app.find(if round == 0 { "welcome" } else { "welcome" }).await?;
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        let pid = app.process()?;
        let uptime: f64 = fs::read_to_string("/proc/uptime")?.split(' ').next().unwrap().parse()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let began: f64 = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse()?;
        let start = now - (uptime - began / 100.0) * 1e3;
        let script = format!(
            "const s={start}; const o=performance.timeOrigin; const r=[]; \
          r.push(['timeOrigin', o-s]); const n=performance.getEntriesByType('navigation')[0]; \
          if(n) for (const k of ['fetchStart','requestStart','responseStart','responseEnd','domInteractive','domContentLoadedEventStart','loadEventEnd']) r.push([k,o-s+n[k]]); \
          for (const e of performance.getEntriesByType('resource')) r.push([e.name.split('/').pop(), o-s+e.startTime, o-s+e.responseEnd]); \
          for (const e of performance.getEntriesByType('paint')) r.push([e.name, o-s+e.startTime]); \
          for (const e of performance.getEntriesByType('mark')) r.push([e.name, o-s+e.startTime]); \
          return JSON.stringify(r.map(x => [x[0], ...x.slice(1).map(Math.round)]));"
        );
        let told = app.script(&script).await?;
        eprintln!(
            "round {round}: driver asked {:.0} opened {:.0}\n  {}",
            before - start,
            opened - start,
            told.as_str().unwrap_or("?").replace("],", "],\n  ")
        );
        app.close().await?;
    }
    Ok(())
}

#[tokio::test]
#[ignore = "tmp"]
async fn startup_bare() -> Result<()> {
    use octo_tests::BareApplication;
    let desktop = Desktop::start()?;
    let variants: Vec<String> = std::env::var("VARIANTS")?.split(';').map(str::to_owned).collect();
    for round in 0..4 {
        for (n, variant) in variants.iter().enumerate() {
            let home = std::env::var("SEED_HOME")
                .unwrap_or_else(|_| desktop.folder().join("octo").to_str().unwrap().to_owned());
            let file = desktop.folder().join(format!("v{n}.sh"));
            fs::write(&file, format!("#!/bin/sh\nexport OCTO_HOME={home}\n{variant}\n"))?;
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
            let mut app = BareApplication::start_other(&desktop, &file)?;
            let took = app.painted()?;
            std::thread::sleep(std::time::Duration::from_secs(3));
            let mut pss = 0.0;
            let mut parts = String::new();
            let root = app.process();
            let mut all = vec![root];
            let mut at = 0;
            while at < all.len() {
                for entry in fs::read_dir("/proc")? {
                    let entry = entry?;
                    let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
                    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
                    let parent: u32 =
                        stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse()?;
                    if parent == all[at] && !all.contains(&pid) {
                        all.push(pid);
                    }
                }
                at += 1;
            }
            for pid in all {
                let Ok(roll) = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) else { continue };
                let kb: f64 = roll
                    .lines()
                    .find(|l| l.starts_with("Pss:"))
                    .unwrap()
                    .split_whitespace()
                    .nth(1)
                    .unwrap()
                    .parse()?;
                let name = fs::read_to_string(format!("/proc/{pid}/comm"))?;
                pss += kb / 1000.0;
                parts += &format!(" {}={:.0}", name.trim(), kb / 1000.0);
            }
            eprintln!("round {round} variant {n}: {} ms, {pss:.0} MB{parts}", took.as_millis());
            drop(app);
            std::thread::sleep(std::time::Duration::from_millis(800));
        }
    }
    Ok(())
}
