//! Buttons, links, boxes.

use super::{between, oracles, quoted};

oracles! {
    "click-test" => |it| { it.click_named("button", "Click Me!").await }
    "click-test-2", "click-test-transfer" => |it| { it.click_named("button", "ONE").await }
    "click-button", "unicode-test" => |it| {
        let name = quoted(&it.goal).remove(0);
        it.click_named("button", &name).await
    }
    "click-button-sequence" => |it| {
        it.click_named("button", "ONE").await?;
        it.click_named("button", "TWO").await
    }
    "button-delay" => |it| {
        it.click_named("button", "ONE").await?;
        let seconds: u64 = between(&it.goal, "wait ", " second")?.parse().map_err(|_| "no number")?;
        it.wait(seconds * 1_000).await?;
        it.click_named("button", "TWO").await
    }
    "click-link" => |it| {
        let name = quoted(&it.goal).remove(0);
        it.click_named("", &name).await
    }
    "click-option" => |it| {
        let name = between(&it.goal, "Select ", " and click")?.to_owned();
        it.click_named("radio", &name).await?;
        it.click_named("button", "Submit").await
    }
    "click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer" => |it| {
        let names = between(&it.goal, "Select ", " and click")?.to_owned();
        for name in names.split(", ").filter(|name| *name != "nothing") {
            it.click_named("checkbox", name).await?;
        }
        it.click_named("button", "Submit").await
    }
    "ascending-numbers" => |it| {
        // Only the first shows the others' numbers; they stay in order.
        it.click_named("", "1").await?;
        loop {
            let all = it.targets().await;
            let next = all.iter().find(|target| target.name.contains("rect") || target.name.parse::<u32>().is_ok());
            let Some(next) = next else { return Ok(()) };
            it.click(next.number).await?;
        }
    }
    "odd-or-even" => |it| {
        let lines = it.lines().await;
        let numbers: Vec<i64> = lines.iter().filter_map(|line| line.parse().ok()).collect();
        let (odd, even) = (it.all_named("button", "Odd").await, it.all_named("button", "Even").await);
        for ((number, odd), even) in numbers.iter().zip(odd).zip(even) {
            it.click(if number % 2 == 0 { even.number } else { odd.number }).await?;
        }
        it.click_named("button", "Submit").await
    }
    "identify-shape" => |it| {
        let all = it.targets().await;
        let shape = all.iter().find(|target| target.role != "button").ok_or("no shape")?;
        let word = match (shape.name.as_str(), shape.role.as_str()) {
            (name, "click") if name.chars().count() == 1 => {
                if name.chars().all(char::is_numeric) { "Number" } else { "Letter" }
            }
            ("rect", _) => "Rectangle",
            ("circle", _) => "Circle",
            _ => "Triangle",
        };
        it.click_named("button", word).await
    }
    "grid-coordinate" => |it| {
        let place = between(&it.goal, "(", ")")?.replace(' ', "");
        let hint = format!("#({place})");
        let all = it.targets().await;
        let target = all.iter().find(|target| target.name.starts_with(&hint)).ok_or("no such point")?;
        it.click(target.number).await
    }
    "click-widget" => |it| {
        let kind = quoted(&it.goal).remove(0);
        let (role, hint) = match kind.as_str() {
            "text" => ("textbox", "input"),
            "textarea" => ("textbox", "textarea"),
            kind => (kind, ""),
        };
        let all = it.all(role).await;
        let target = all.iter().find(|target| hint.is_empty() || target.name == hint).ok_or("no such widget")?;
        it.click(target.number).await
    }
    "drag-box" => |it| {
        let (small, large) = (it.named("", "s").await?, it.named("", "L").await?);
        it.drag(small.number, large.number).await?;
        it.click_named("button", "Submit").await
    }
    "sign-agreement" => |it| {
        let words = quoted(&it.goal);
        if let [name, ..] = words.as_slice() {
            let text = it.all("textbox").await.first().ok_or("no text")?.number;
            it.scroll(text, 100_000.0).await?;
            it.wait(300).await?;
            let field = it.named("textbox", "Name").await?.number;
            it.fill(field, name).await?;
        }
        let button = words.get(1).cloned().unwrap_or_else(|| "Cancel".to_owned());
        it.click_named("button", &button).await
    }
    "guess-number" => |it| {
        let (mut low, mut high) = (0, 9);
        while low <= high {
            let guess = i64::midpoint(low, high);
            let field = it.nth("spinbutton", 0).await?;
            it.fill(field, &guess.to_string()).await?;
            it.click_named("button", "Submit").await?;
            let said = it.lines().await.join(" ");
            if said.contains("lower than") {
                high = guess - 1;
            } else if said.contains("higher than") {
                low = guess + 1;
            } else {
                return Ok(());
            }
        }
        Err("no number is left".to_owned())
    }
    "generate-number" => |it| {
        let limit = it.goal.split_whitespace().find_map(|word| word.trim_matches(',').parse::<i64>().ok());
        for _ in 0..60 {
            it.click_named("button", "Generate").await?;
            let lines = it.lines().await;
            let Some(number) = lines.iter().find_map(|line| line.parse::<i64>().ok()) else { continue };
            let fits = if it.goal.contains("greater than") {
                limit.is_some_and(|limit| number > limit)
            } else if it.goal.contains("less than") {
                limit.is_some_and(|limit| number < limit)
            } else if it.goal.contains("even") {
                number % 2 == 0
            } else {
                number % 2 != 0
            };
            if fits {
                return it.click_named("button", "Submit").await;
            }
        }
        Err("it never came".to_owned())
    }
}
