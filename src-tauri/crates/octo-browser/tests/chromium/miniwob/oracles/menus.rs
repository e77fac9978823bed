//! Tabs, sections, dialogs, menus, trees.

use super::{between, oracles, quoted};

oracles! {
    "click-dialog" => |it| { it.click_named("button", "Close").await }
    "click-dialog-2" => |it| {
        let name = quoted(&it.goal).remove(0);
        it.click_named("button", if name == "x" { "Close" } else { &name }).await
    }
    "click-tab" => |it| {
        let name = between(&it.goal, "Click on ", "")?.trim_end_matches('.').to_owned();
        it.click_named("tab", &name).await
    }
    "click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard" => |it| {
        let name = quoted(&it.goal).remove(0);
        let tabs = it.all("tab").await;
        for tab in tabs {
            it.click(tab.number).await?;
            let all = it.targets().await;
            if let Some(found) = all.iter().find(|target| target.name == name && target.role == "click") {
                return it.click(found.number).await;
            }
        }
        Err("it is under no tab".to_owned())
    }
    "click-collapsible", "click-collapsible-nodelay" => |it| {
        let section = it.nth("tab", 0).await?;
        it.click(section).await?;
        it.wait(600).await?;
        it.click_named("button", "Submit").await
    }
    "click-collapsible-2", "click-collapsible-2-nodelay" => |it| {
        let name = quoted(&it.goal).remove(0);
        let sections = it.all("tab").await;
        for section in sections {
            it.click(section.number).await?;
            it.wait(600).await?;
            let all = it.targets().await;
            if let Some(found) = all.iter().find(|target| target.name == name) {
                return it.click(found.number).await;
            }
        }
        Err("it is in no section".to_owned())
    }
    "click-menu" => |it| {
        let path = between(&it.goal, "Select ", "")?.to_owned();
        let names: Vec<&str> = path.split('>').collect();
        for (place, name) in names.iter().enumerate() {
            let item = it.named("menuitem", name).await?.number;
            if place + 1 == names.len() {
                it.click(item).await?;
            } else {
                it.hover(item).await?;
                it.wait(500).await?;
            }
        }
        Ok(())
    }
    "navigate-tree" => |it| {
        let name = quoted(&it.goal).remove(0);
        let mut opened: Vec<u32> = Vec::new();
        for _ in 0..20 {
            let all = it.targets().await;
            if let Some(found) = all.iter().rev().find(|target| target.name == name) {
                return it.click(found.number).await;
            }
            let folder =
                all.iter().find(|target| target.name.contains("expandable") && !opened.contains(&target.number));
            let folder = folder.ok_or("no folder is left")?.number;
            opened.push(folder);
            it.click(folder).await?;
        }
        Err("it is in no folder".to_owned())
    }
}
