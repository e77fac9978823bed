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
    let sender = between(goal, "email by ", " and")?.to_owned();
    let action = if goal.contains("trash icon") {
        MailAction::Delete
    } else if goal.contains("star icon") {
        MailAction::Star
    } else if goal.contains("reply to them") {
        MailAction::Reply(super::quoted(goal).remove(0))
    } else {
        MailAction::Forward(between(goal, "email to ", "")?.trim_end_matches('.').to_owned())
    };
    Ok((sender, action))
}

async fn carry_out(player: &mut Player, sender: &str, action: MailAction) -> PlayResult {
    let targets = player.targets().await;
    let is_by =
        |target: &&NumberedTarget| target.role == "click" && target.name.split(' ').next() == Some(sender);
    let mails: Vec<&NumberedTarget> = targets.iter().filter(is_by).collect();
    let mail = match mails.as_slice() {
        [] => return Err(format!("no mail by {sender}")),
        [mail] => *mail,
        _ => return Err(AMBIGUOUS.to_owned()),
    };
    let targets_near = |hint: &str| {
        let found = targets.iter().find(|target| target.line >= mail.line && target.name.contains(hint));
        found.map(|target| target.number).ok_or_else(|| format!("no {hint} beside it"))
    };
    match action {
        MailAction::Delete => player.click(targets_near("trash")?).await,
        MailAction::Star => player.click(targets_near("star")?).await,
        MailAction::Reply(text) => {
            player.click(mail.number).await?;
            player.click_hint("reply").await?;
            let field = player.nth("textbox", 0).await?;
            player.fill(field, &text).await?;
            player.click_hint("send").await
        }
        MailAction::Forward(recipient) => {
            player.click(mail.number).await?;
            player.click_hint("forward").await?;
            let field = player.nth("textbox", 0).await?;
            player.fill(field, &recipient).await?;
            player.click_hint("send").await
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
