//! Tables and lists that are read.

use super::{between, oracles};

oracles! {
    "read-table" => |it| {
        let label = between(&it.goal, "value of ", " into")?.to_owned();
        let value = it.cell(&label).await?;
        let field = it.nth("textbox", 0).await?;
        it.fill(field, &value).await?;
        it.click_named("button", "Submit").await
    }
    "read-table-2" => |it| {
        let lines = it.lines().await;
        let labels: Vec<String> =
            lines.iter().filter_map(|line| line.split_once(':').map(|(label, _)| label.to_owned())).collect();
        for (place, label) in labels.iter().enumerate() {
            let value = it.cell(label).await?;
            let field = it.nth("textbox", place).await?;
            it.fill(field, &value).await?;
        }
        it.click_named("button", "Submit").await
    }
    "buy-ticket" => |it| {
        let lines = it.lines().await;
        let is_price = it.goal.contains("price") || it.goal.contains("cheap") || it.goal.contains("expensive");
        let is_most = ["highest", "longest", "expensive", "most"].iter().any(|word| it.goal.contains(word));
        let minutes = |line: &str| {
            let (hours, rest) = line.split_once("h ")?;
            Some(hours.parse::<i64>().ok()? * 60 + rest.strip_suffix('m')?.parse::<i64>().ok()?)
        };
        let times: Vec<i64> = lines.iter().filter_map(|line| minutes(line)).collect();
        let buttons = it.all("button").await;
        let price = |name: &str| name.split_once('$').and_then(|(_, price)| price.parse::<i64>().ok());
        let worth = buttons.iter().enumerate().map(|(place, button)| {
            let worth = if is_price { price(&button.name) } else { times.get(place).copied() };
            (worth.unwrap_or_default() * if is_most { -1 } else { 1 }, button.number)
        });
        let best = worth.min().ok_or("no tickets")?.1;
        it.click(best).await
    }
    "order-food" => |it| {
        let lines = it.lines().await;
        let plus = it.all_named("click", "+").await;
        if let Ok(names) = between(&it.goal, "of each item: ", "") {
            let names: Vec<String> = names.split(", ").map(str::to_owned).collect();
            for name in names {
                let line = lines.iter().position(|line| *line == name).ok_or("no such dish")?;
                let add = plus.iter().find(|plus| plus.line > line).ok_or("no plus")?.number;
                it.click(add).await?;
            }
        } else {
            let kind = it.goal.rsplit(' ').next().unwrap_or_default().to_lowercase();
            let wanted: usize = between(&it.goal, "Order ", " item")?.parse().map_err(|_| "no number")?;
            let mut marked: Vec<u32> = Vec::new();
            for plus in &plus {
                let marks = lines[..plus.line].iter().rev().find(|line| line.starts_with("img"));
                if marks.is_some_and(|marks| marks.contains(&format!("\"{kind}\""))) {
                    marked.push(plus.number);
                }
            }
            for place in 0..wanted {
                it.click(*marked.get(place % marked.len().max(1)).ok_or("nothing of that kind")?).await?;
            }
        }
        it.click_named("button", "Order!").await
    }
    "phone-book" => |it| {
        let name = between(&it.goal, "Find ", " in the")?.to_owned();
        let wanted =
            ["phone", "email", "address"].into_iter().find(|word| it.goal.contains(word)).ok_or("nothing is wanted")?;
        for _ in 0..20 {
            let lines = it.lines().await;
            if lines.iter().any(|line| line.trim_start_matches('#').trim() == name) {
                let all = it.all("link").await;
                let link = all.iter().find(|link| link.before.to_lowercase().starts_with(wanted)).ok_or("no link")?;
                return it.click(link.number).await;
            }
            it.click_named("link", ">").await?;
        }
        Err("they are in no page".to_owned())
    }
    "multi-layouts", "multi-orderings" => |it| {
        let genre = between(&it.goal, "Search for ", " movies")?.to_owned();
        let director = between(&it.goal, "directed by ", " from")?.to_owned();
        let year = between(&it.goal, "from year ", ".")?.to_owned();
        let lines = it.lines().await;
        let boxes = it.all("textbox").await;
        let word = |line: &str| {
            let text = line.to_lowercase();
            ["genre", "director", "year", "date"].iter().position(|word| text.contains(word))
        };
        // Labels may precede or follow their boxes.
        let labels: Vec<usize> = lines.iter().skip(1).filter_map(|line| word(line)).collect();
        if labels.len() != boxes.len() {
            return Err(format!("labels and boxes are not told apart: {lines:?}"));
        }
        for (label, field) in labels.iter().zip(&boxes) {
            let value = [&genre, &director, &year, &year][*label];
            it.fill(field.number, value).await?;
        }
        let all = it.targets().await;
        let submit = all.iter().rev().find(|target| {
            target.role != "textbox" && !target.name.starts_with(['#', '.']) && !target.name.is_empty()
        });
        let submit = submit.ok_or("no button")?.number;
        it.click(submit).await
    }
    "search-engine" => |it| {
        let name = super::quoted(&it.goal).remove(0);
        let mut place = super::ordinal(&it.goal)?;
        let field = it.nth("textbox", 0).await?;
        it.fill(field, &name).await?;
        it.click_named("button", "Search").await?;
        for _ in 0..10 {
            let all = it.all("link").await;
            let results: Vec<_> = all
                .iter()
                .filter(|link| link.name.chars().any(char::is_alphabetic) && !link.name.contains("http"))
                .collect();
            match results.get(place - 1) {
                Some(result) => return it.click(result.number).await,
                None => {
                    place -= results.len();
                    it.click_named("link", ">").await?;
                }
            }
        }
        Err("there are not so many results".to_owned())
    }
}
