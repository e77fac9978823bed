//! Fields.

use super::{between, oracles, ordinal, quoted};

oracles! {
    "enter-text", "enter-text-dynamic" => |it| {
        let text = quoted(&it.goal).remove(0);
        let field = it.nth("textbox", 0).await?;
        it.fill(field, &text).await?;
        it.click_named("button", "Submit").await
    }
    "enter-text-2" => |it| {
        let text = quoted(&it.goal).remove(0);
        let text = if it.goal.contains("upper") { text.to_uppercase() } else { text.to_lowercase() };
        let field = it.nth("textbox", 0).await?;
        it.type_text(field, &text).await?;
        it.click_named("button", "Submit").await
    }
    "enter-password" => |it| {
        let text = quoted(&it.goal).remove(0);
        for place in 0..2 {
            let field = it.nth("textbox", place).await?;
            it.fill(field, &text).await?;
        }
        it.click_named("button", "Submit").await
    }
    "login-user", "login-user-popup" => |it| {
        let texts = quoted(&it.goal);
        let fields = it.all("textbox").await;
        for (field, text) in fields.iter().zip(&texts) {
            // A prompt may appear as soon as a field has the focus, and disable it.
            let filled = it.fill(field.number, text).await;
            if let Ok(cancel) = it.named("button", "Cancel").await {
                it.click(cancel.number).await?;
                it.fill(field.number, text).await?;
            } else {
                filled?;
            }
        }
        let button = it.all("button").await;
        it.click(button.first().ok_or("no button")?.number).await
    }
    "enter-date" => |it| {
        let date = between(&it.goal, "Enter ", " as")?.to_owned();
        let parts: Vec<&str> = date.split('/').collect();
        let field = it.nth("date", 0).await?;
        it.fill(field, &format!("{}-{}-{}", parts[2], parts[0], parts[1])).await?;
        it.click_named("button", "Submit").await
    }
    "enter-time" => |it| {
        let time = between(&it.goal, "Enter ", " as")?.to_owned();
        let (clock, half) = time.split_once(' ').ok_or("no half of the day")?;
        let (hour, minute) = clock.split_once(':').ok_or("no minutes")?;
        let hour: u32 = hour.parse().map_err(|_| "no hour")?;
        let hour = hour % 12 + if half == "PM" { 12 } else { 0 };
        let field = it.nth("time", 0).await?;
        it.fill(field, &format!("{hour:02}:{minute}")).await?;
        it.click_named("button", "Submit").await
    }
    "focus-text" => |it| {
        let field = it.nth("textbox", 0).await?;
        it.click(field).await
    }
    "focus-text-2" => |it| {
        let field = it.nth("textbox", ordinal(&it.goal)? - 1).await?;
        it.click(field).await
    }
    "choose-list" => |it| {
        let name = between(&it.goal, "Select ", " from the list")?.to_owned();
        let list = it.nth("combobox", 0).await?;
        it.select(list, &[&name]).await?;
        it.click_named("button", "Submit").await
    }
    "click-scroll-list" => |it| {
        let names = between(&it.goal, "Select ", " from the scroll")?.to_owned();
        let option = it.nth("option", 0).await?;
        it.select(option, &names.split(", ").collect::<Vec<_>>()).await?;
        it.click_named("button", "Submit").await
    }
    "copy-paste", "copy-paste-2" => |it| {
        let hint = match it.goal.contains("text from the") {
            true => format!("#text-{}", ordinal(&it.goal)?),
            false => "#to-copy".to_owned(),
        };
        let from = it.named("textbox", &hint).await?.number;
        it.press(Some(from), "Mod+A").await?;
        it.press(Some(from), "Mod+C").await?;
        let to = it.named("textbox", "#answer-input").await?.number;
        it.press(Some(to), "Mod+V").await?;
        it.click_named("button", "Submit").await
    }
    "scroll-text" => |it| {
        let text = it.nth("textbox", 0).await?;
        let whole = it.read(text).await?;
        let last = whole.split_whitespace().last().ok_or("no words")?.trim_matches(['.', '"', ',']).to_owned();
        let field = it.named("textbox", "#answer-input").await?.number;
        it.fill(field, &last).await?;
        it.click_named("button", "Submit").await
    }
    "scroll-text-2" => |it| {
        let text = it.nth("textbox", 0).await?;
        it.scroll(text, if it.goal.contains("bottom") { 100_000.0 } else { -100_000.0 }).await?;
        it.wait(300).await?;
        it.click_named("button", "Submit").await
    }
    "find-word" => |it| {
        let lines = it.lines().await;
        let paragraph = lines.iter().skip(1).find(|line| !line.contains('[')).ok_or("no paragraph")?;
        let word = paragraph.split_whitespace().nth(ordinal(&it.goal)? - 1).ok_or("no such word")?;
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let field = it.nth("textbox", 0).await?;
        it.fill(field, &word).await?;
        it.click_named("button", "Submit").await
    }
    "text-transform" => |it| {
        let lines = it.lines().await;
        let shown = lines.iter().skip(1).take_while(|line| !line.contains("textbox"));
        let text: String = shown.flat_map(|line| line.split_whitespace()).collect();
        let field = it.nth("textbox", 0).await?;
        it.fill(field, &text).await?;
        it.click_named("button", "Submit").await
    }
    "simple-arithmetic" => |it| {
        let lines = it.lines().await;
        let sum = lines.iter().find(|line| line.contains(" = ")).ok_or("no sum")?;
        let words: Vec<&str> = sum.split_whitespace().collect();
        let number = |place: usize| words[place].parse::<i64>().map_err(|error| error.to_string());
        let (a, b) = (number(0)?, number(2)?);
        let answer = match words[1] {
            "+" => a + b,
            "-" => a - b,
            _ => a * b,
        };
        let field = it.nth("textbox", 0).await?;
        it.fill(field, &answer.to_string()).await?;
        it.click_named("button", "Submit").await
    }
    "simple-algebra" => |it| {
        let lines = it.lines().await;
        let sum = lines.iter().find(|line| line.contains(" = ") && !line.contains('[')).ok_or("no sum")?;
        let words: Vec<&str> = sum.split_whitespace().collect();
        let number = |place: usize| words[place].parse::<i64>().map_err(|error| error.to_string());
        let right = number(4)?;
        let answer = match (words[0], words[1]) {
            ("x", "+") => right - number(2)?,
            ("x", _) => right + number(2)?,
            (_, "+") => right - number(0)?,
            _ => number(0)? - right,
        };
        let field = it.nth("textbox", 0).await?;
        it.fill(field, &answer.to_string()).await?;
        it.click_named("button", "Submit").await
    }
    "use-spinner" => |it| {
        let value = between(&it.goal, "Select ", " with")?.to_owned();
        let field = it.nth("spinbutton", 0).await?;
        it.fill(field, &value).await?;
        it.click_named("button", "Submit").await
    }
    "use-slider" => |it| {
        let value = between(&it.goal, "Select ", " with")?.parse().map_err(|_| "no number")?;
        it.slide(value).await?;
        it.click_named("button", "Submit").await
    }
    "form-sequence" => |it| {
        let value = between(&it.goal, "Select ", " with")?.parse().map_err(|_| "no number")?;
        it.slide(value).await?;
        let tick = it.nth("checkbox", ordinal(&it.goal)? - 1).await?;
        it.click(tick).await?;
        it.click_named("button", "Submit").await
    }
    "form-sequence-2" => |it| {
        let (first, second) = it.goal.split_once(" and enter ").ok_or("no second part")?;
        let (radio, field, number) = (ordinal(first)? - 1, ordinal(second)? - 1, quoted(second).remove(0));
        let radio = it.nth("radio", radio).await?;
        it.click(radio).await?;
        let field = it.nth("textbox", field).await?;
        it.fill(field, &number).await?;
        it.click_named("button", "Submit").await
    }
    "use-autocomplete", "use-autocomplete-nodelay" => |it| {
        let parts: Vec<String> = quoted(&it.goal).iter().map(|part| part.trim().to_owned()).collect();
        let all = it.targets().await;
        let field = all.iter().find(|target| ["textbox", "combobox"].contains(&target.role.as_str()));
        let field = field.ok_or("no field")?.number;
        it.type_text(field, &parts[0]).await?;
        it.wait(1_200).await?;
        let end = parts.get(1).cloned().unwrap_or_default();
        let all = it.targets().await;
        let found = all.iter().find(|target| {
            target.number != field && target.name.starts_with(&parts[0]) && target.name.ends_with(&end)
        });
        it.click(found.ok_or("nothing fits")?.number).await?;
        it.click_named("button", "Submit").await
    }
}
