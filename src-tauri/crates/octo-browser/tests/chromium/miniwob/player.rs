//! The player: reads the text of the page, and acts on numbered elements.

use crate::kit::script_result;
use octo_browser::{
    Audience, BrowserAct, Page, ScrollTarget, TabView, WaitCondition,
    snapshot::{PagePart, RenderFilter, WHOLE},
};
use std::time::Duration;

/// A numbered element, as the text describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NumberedTarget {
    pub number: u32,
    pub role: String,
    /// Its name, or its hint if it has none.
    pub name: String,
    /// The text after the number, up to the next target: states and values.
    pub after: String,
    /// The text before it in its line, since the last target.
    pub before: String,
    /// The line's index in the text.
    pub line: usize,
}

/// A player of one task.
pub(super) struct Player {
    page: Page,
    view: TabView,
    /// The task's sentence.
    pub goal: String,
    /// The values the sentence is about, if the task lists them separately.
    fields: serde_json::Value,
    pub acts: u32,
    /// The page's initial text.
    pub initial_text: String,
}

pub(super) type PlayResult = Result<(), String>;

impl Player {
    pub(super) async fn begin(page: &Page, url: &str, seed: u32) -> Self {
        page.navigate(url).await.expect("there");
        // A task must not fail because a busy machine runs out its clock.
        let start = format!(
            "core.EPISODE_MAX_TIME = 1e7; Math.seedrandom('{seed}'); core.startEpisodeReal(); core.getUtterance()"
        );
        let result = script_result(page, &start).await;
        let fields = script_result(page, "core.getUtterance().fields || null").await;
        let goal = result.as_str().unwrap_or_else(|| result["utterance"].as_str().unwrap_or_default());
        let goal = goal.split_whitespace().collect::<Vec<_>>().join(" ");
        page.wait_until_quiet().await.expect("quiet");
        let mut player = Self {
            page: page.clone(),
            view: TabView::default(),
            goal,
            fields,
            acts: 0,
            initial_text: String::new(),
        };
        player.initial_text = player.text().await;
        player
    }

    /// Returns the task's reward, 1 if it was solved.
    pub(super) async fn reward(&self) -> f64 {
        let won = script_result(&self.page, "WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : 0").await;
        won.as_f64().unwrap_or_default()
    }

    /// Returns the page as text.
    pub(super) async fn text(&mut self) -> String {
        match self.view.refresh(&self.page).await {
            Ok(snapshot) => snapshot.render(WHOLE, RenderFilter::default()).text,
            Err(error) => error.to_string(),
        }
    }

    /// Returns the page's lines without those below the task.
    pub(super) async fn lines(&mut self) -> Vec<String> {
        let text = self.text().await;
        let is_score = |line: &&str| {
            ["Last reward:", "Last 10 average:", "Time left:", "Episodes done:"]
                .iter()
                .any(|it| line.contains(it))
        };
        text.lines().skip(1).filter(|line| !is_score(line)).map(|line| line.trim().to_owned()).collect()
    }

    pub(super) async fn targets(&mut self) -> Vec<NumberedTarget> {
        let lines = self.lines().await;
        lines.iter().enumerate().flat_map(|(index, line)| targets(line, index)).collect()
    }

    /// Returns the targets of one role.
    pub(super) async fn all(&mut self, role: &str) -> Vec<NumberedTarget> {
        self.targets().await.into_iter().filter(|target| target.role == role).collect()
    }

    /// Returns the target of a role with exactly this name.
    pub(super) async fn named(&mut self, role: &str, name: &str) -> Result<NumberedTarget, String> {
        let targets = self.targets().await;
        let of_role = || targets.iter().filter(|target| role.is_empty() || target.role == role);
        of_role()
            .find(|target| target.name == name)
            .or_else(|| of_role().find(|target| target.name.eq_ignore_ascii_case(name)))
            .cloned()
            .ok_or_else(|| format!("there is no {role} {name:?} in {targets:?}"))
    }

    pub(super) async fn nth(&mut self, role: &str, index: usize) -> Result<u32, String> {
        let targets = self.all(role).await;
        targets
            .get(index)
            .map(|target| target.number)
            .ok_or_else(|| format!("there is no {role} number {index}"))
    }

    pub(super) async fn click(&mut self, number: u32) -> PlayResult {
        let node_ref = self.node_ref(number).await?;
        self.act(BrowserAct::Click(node_ref)).await
    }

    pub(super) async fn click_named(&mut self, role: &str, name: &str) -> PlayResult {
        let target = self.named(role, name).await?;
        self.click(target.number).await
    }

    pub(super) async fn fill(&mut self, number: u32, text: &str) -> PlayResult {
        let node_ref = self.node_ref(number).await?;
        self.act(BrowserAct::Fill(node_ref, text.to_owned())).await
    }

    pub(super) async fn type_text(&mut self, number: u32, text: &str) -> PlayResult {
        let node_ref = self.node_ref(number).await?;
        self.act(BrowserAct::Type(node_ref, text.to_owned())).await
    }

    pub(super) async fn press(&mut self, number: Option<u32>, key: &str) -> PlayResult {
        let node_ref = match number {
            Some(number) => Some(self.node_ref(number).await?),
            None => None,
        };
        self.act(BrowserAct::Press(node_ref, key.to_owned())).await
    }

    pub(super) async fn select(&mut self, number: u32, values: &[&str]) -> PlayResult {
        let node_ref = self.node_ref(number).await?;
        self.act(BrowserAct::Select(node_ref, values.iter().map(|value| (*value).to_owned()).collect())).await
    }

    pub(super) async fn drag(&mut self, source: u32, target: u32) -> PlayResult {
        let (source, target) = (self.node_ref(source).await?, self.node_ref(target).await?);
        self.act(BrowserAct::Drag(source, target)).await
    }

    pub(super) async fn scroll(&mut self, number: u32, down: f64) -> PlayResult {
        let node_ref = self.node_ref(number).await?;
        self.act(BrowserAct::Scroll(ScrollTarget::By(Some(node_ref), 0.0, down))).await
    }

    pub(super) async fn hover(&mut self, number: u32) -> PlayResult {
        let node_ref = self.node_ref(number).await?;
        self.act(BrowserAct::Hover(node_ref)).await
    }

    pub(super) async fn wait(&mut self, milliseconds: u64) -> PlayResult {
        self.act(BrowserAct::Wait(WaitCondition::Time(Duration::from_millis(milliseconds)))).await
    }

    /// Returns all targets of a role with exactly this name.
    pub(super) async fn all_named(&mut self, role: &str, name: &str) -> Vec<NumberedTarget> {
        self.all(role).await.into_iter().filter(|target| target.name == name).collect()
    }

    /// Clicks the first element with this label, whatever its role.
    pub(super) async fn click_hint(&mut self, hint: &str) -> PlayResult {
        let targets = self.targets().await;
        let found = targets.iter().find(|target| target.name.to_lowercase().contains(hint));
        let number = found.map(|target| target.number).ok_or_else(|| format!("no {hint} in {targets:?}"))?;
        self.click(number).await
    }

    /// Returns a value of the task's sentence.
    pub(super) fn field(&self, name: &str) -> Result<String, String> {
        self.fields[name].as_str().map(str::to_owned).ok_or_else(|| format!("no {name} in {}", self.fields))
    }

    /// Returns the value next to a label in a table.
    pub(super) async fn cell(&mut self, label: &str) -> Result<String, String> {
        let lines = self.lines().await;
        let row = lines.iter().find_map(|line| line.strip_prefix(&format!("{label} | ")));
        row.map(str::to_owned).ok_or_else(|| format!("no {label} in {lines:?}"))
    }

    /// Returns the complete text of an element.
    pub(super) async fn read(&mut self, number: u32) -> Result<String, String> {
        let snapshot = self.view.refresh(&self.page).await.map_err(|error| error.to_string())?;
        let read = snapshot.read(&PagePart::Ref(number), 0, WHOLE).ok_or("it is gone")?;
        Ok(read.text)
    }

    /// Moves the only slider to a value, which the page shows next to it.
    pub(super) async fn slide(&mut self, value: i64) -> PlayResult {
        let targets = self.targets().await;
        let slider =
            targets.iter().rev().find(|target| target.name.contains("slider")).ok_or("no slider")?.number;
        self.click(slider).await?;
        for _ in 0..60 {
            let lines = self.lines().await;
            let values = lines.iter().skip(1).flat_map(|line| line.split_whitespace());
            let current = values.filter_map(|word| word.parse::<i64>().ok()).next().ok_or("no value")?;
            match current.cmp(&value) {
                std::cmp::Ordering::Equal => return Ok(()),
                std::cmp::Ordering::Less => self.press(None, "ArrowRight").await?,
                std::cmp::Ordering::Greater => self.press(None, "ArrowLeft").await?,
            }
        }
        Err("the slider does not come there".to_owned())
    }

    async fn node_ref(&mut self, number: u32) -> Result<octo_browser::snapshot::NodeRef, String> {
        Ok(self.view.locate(&self.page, number).await.map_err(|error| error.to_string())?.node_ref)
    }

    async fn act(&mut self, act: BrowserAct) -> PlayResult {
        self.acts += 1;
        let outcome = self.page.perform(&act, Audience::Unwatched).await;
        outcome.map(drop).map_err(|error| format!("{act:?}: {error:?}"))
    }
}

/// Roles that precede a name or a hint.
const ROLES: &[&str] = &[
    "button",
    "link",
    "click",
    "img",
    "textbox",
    "checkbox",
    "radio",
    "tab",
    "menuitem",
    "option",
    "combobox",
    "spinbutton",
    "slider",
    "canvas",
    "date",
    "time",
];

/// Returns the targets of a line: `role "name" [number] states`.
fn targets(line: &str, index: usize) -> Vec<NumberedTarget> {
    let mut found: Vec<NumberedTarget> = Vec::new();
    let mut remaining = line;
    while let Some((head, after_bracket)) = remaining.split_once('[') {
        let Some((digits, after_bracket)) = after_bracket.split_once(']') else { break };
        remaining = after_bracket;
        let Ok(number) = digits.parse() else { continue };
        let head = head.trim();
        let (before, role, name) = match head.strip_suffix('"') {
            // A name itself contains no quotation mark.
            Some(named) => {
                let (before, name) = named.rsplit_once('"').unwrap_or(("", named));
                let before = before.trim_end();
                let (before, role) = before.rsplit_once(' ').unwrap_or(("", before));
                (before, role, name)
            }
            None => {
                let mut words = head.rsplitn(3, ' ');
                let (last, role) = (words.next().unwrap_or_default(), words.next());
                match role.filter(|role| ROLES.contains(role)) {
                    Some(role) => (words.next().unwrap_or_default(), role, last),
                    None => (head.rsplit_once(' ').map_or("", |(before, _)| before), last, ""),
                }
            }
        };
        let before = before.trim_start_matches('|').trim();
        if let Some(last) = found.last_mut() {
            last.after = before.to_owned();
        }
        found.push(NumberedTarget {
            number,
            role: role.to_owned(),
            name: name.to_owned(),
            after: String::new(),
            before: before.to_owned(),
            line: index,
        });
    }
    if let Some(last) = found.last_mut() {
        last.after = remaining.trim().to_owned();
    }
    found
}
