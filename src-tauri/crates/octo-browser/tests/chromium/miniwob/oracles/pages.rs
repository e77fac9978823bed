//! Posts of many people.

use super::{between, oracles, quoted};

/// Returns a button's label in the text.
fn hint(name: &str) -> &'static str {
    match name.to_lowercase().as_str() {
        "like" => ".like",
        "retweet" => ".retweet",
        "reply" => ".reply",
        "share" => ".share",
        _ => "",
    }
}

oracles! {
    "social-media" => |it| {
        let user = between(&it.goal, "For the user ", ",")?.to_owned();
        let action = quoted(&it.goal).remove(0);
        let lines = it.lines().await;
        let by = |line: &String| line.split_whitespace().any(|word| word == user);
        let post = lines.iter().skip(1).position(by).ok_or("no such user")? + 1;
        let all = it.targets().await;
        let hint = hint(&action);
        let beside = |name: &str| {
            let found = all.iter().find(|target| target.line > post && target.name.contains(name));
            found.map(|target| target.number).ok_or_else(|| format!("no {name}"))
        };
        if !hint.is_empty() && hint != ".share" {
            return it.click(beside(hint)?).await;
        }
        // The rest is in a menu.
        it.click(beside(".more")?).await?;
        let all = it.targets().await;
        let items = all.iter().filter(|target| target.name.starts_with(&action));
        let item = items.min_by_key(|item| item.name.len()).ok_or("no such item")?;
        it.click(item.number).await
    }
    "social-media-all", "social-media-some" => |it| {
        let action = quoted(&it.goal).remove(0);
        let user = it.goal.split_whitespace().find(|word| word.starts_with('@')).ok_or("no user")?.to_owned();
        let wanted = between(&it.goal, "button on ", " post").ok().and_then(|count| count.parse().ok());
        let lines = it.lines().await;
        let posts: Vec<usize> = lines
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, line)| line.split_whitespace().any(|word| word == user))
            .map(|(place, _)| place)
            .collect();
        let all = it.targets().await;
        for post in posts.into_iter().take(wanted.unwrap_or(usize::MAX)) {
            let hint = hint(&action);
            let target = all.iter().find(|target| target.line > post && target.name.contains(hint));
            it.click(target.ok_or("no button")?.number).await?;
        }
        it.click_named("button", "Submit").await
    }
}
