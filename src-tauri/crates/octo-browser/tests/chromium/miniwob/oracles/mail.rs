//! Mails.

use super::{between, oracles};
use crate::miniwob::{
    AMBIGUOUS,
    player::{NumberedTarget, PlayResult, Player},
};

/// The action to take on a mail.
enum MailAction {
    Delete,
    Star,
    Reply(String),
    Forward(String),
}

fn parse_goal(goal: &str) -> Result<(String, MailAction), String> {
    let by = between(goal, "email by ", " and")?.to_owned();
    let wish = if goal.contains("trash icon") {
        MailAction::Delete
    } else if goal.contains("star icon") {
        MailAction::Star
    } else if goal.contains("reply to them") {
        MailAction::Reply(super::quoted(goal).remove(0))
    } else {
        MailAction::Forward(between(goal, "email to ", "")?.trim_end_matches('.').to_owned())
    };
    Ok((by, wish))
}

async fn carry_out(it: &mut Player, by: &str, wish: MailAction) -> PlayResult {
    let all = it.targets().await;
    let is_by =
        |target: &&NumberedTarget| target.role == "click" && target.name.split(' ').next() == Some(by);
    let mails: Vec<&NumberedTarget> = all.iter().filter(is_by).collect();
    let mail = match mails.as_slice() {
        [] => return Err(format!("no mail by {by}")),
        [mail] => *mail,
        _ => return Err(AMBIGUOUS.to_owned()),
    };
    let beside = |hint: &str| {
        let found = all.iter().find(|target| target.line >= mail.line && target.name.contains(hint));
        found.map(|target| target.number).ok_or_else(|| format!("no {hint} beside it"))
    };
    match wish {
        MailAction::Delete => it.click(beside("trash")?).await,
        MailAction::Star => it.click(beside("star")?).await,
        MailAction::Reply(text) => {
            it.click(mail.number).await?;
            it.click_hint("reply").await?;
            let field = it.nth("textbox", 0).await?;
            it.fill(field, &text).await?;
            it.click_hint("send").await
        }
        MailAction::Forward(to) => {
            it.click(mail.number).await?;
            it.click_hint("forward").await?;
            let field = it.nth("textbox", 0).await?;
            it.fill(field, &to).await?;
            it.click_hint("send").await
        }
    }
}

oracles! {
    "email-inbox", "email-inbox-delete", "email-inbox-important", "email-inbox-reply", "email-inbox-forward",
    "email-inbox-noscroll", "email-inbox-star-reply" => |it| {
        let (by, wish) = parse_goal(&it.goal)?;
        carry_out(it, &by, wish).await
    }
    "email-inbox-forward-nl", "email-inbox-forward-nl-turk" => |it| {
        let (by, to) = (it.field("by")?, it.field("to")?);
        carry_out(it, &by, MailAction::Forward(to)).await
    }
    "email-inbox-nl-turk" => |it| {
        let by = it.field("by")?;
        let wish = match it.field("task")?.as_str() {
            "delete" => MailAction::Delete,
            "reply" => MailAction::Reply(it.field("message")?),
            "forward" => MailAction::Forward(it.field("to")?),
            _ => MailAction::Star,
        };
        carry_out(it, &by, wish).await
    }
}
