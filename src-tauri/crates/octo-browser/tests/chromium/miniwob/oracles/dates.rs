//! Calendars.

use super::{between, oracles};

/// The months, as a calendar's heading spells them.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

oracles! {
    "choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay" => |it| {
        let date = between(&it.goal, "Select ", " as")?.to_owned();
        let parts: Vec<usize> = date.split('/').filter_map(|part| part.parse().ok()).collect();
        let (month, day) = (parts[0] - 1, parts[1].to_string());
        let field = it.nth("textbox", 0).await?;
        it.click(field).await?;
        it.wait(400).await?;
        for _ in 0..14 {
            let text = it.lines().await.join(" ");
            let shown = MONTHS.iter().position(|month| text.contains(month)).ok_or("no month is shown")?;
            if shown == month {
                let days = it.all_named("link", &day).await;
                let day = days.first().ok_or("no such day")?.number;
                it.click(day).await?;
                it.wait(300).await?;
                return it.click_named("button", "Submit").await;
            }
            it.click_named("", if shown > month { "Prev" } else { "Next" }).await?;
            it.wait(100).await?;
        }
        Err("the month never came".to_owned())
    }
}
