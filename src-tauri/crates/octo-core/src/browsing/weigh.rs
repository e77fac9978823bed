//! What a call would touch, found at the live page: which site, which real element, what it would set off.

use super::{Seat, facts, hands, live, seat::Work};
use octo_browser::{
    Connected, Owner, Page, Tab, TabNumber,
    safety::{
        self, Act, Action, Address, Dialog, Element, Grants, Judgement, Keys, Leak, Lifetime, Origin,
        PlaceKind, Sensitive, Sink, Step, Target, Verdict, judge,
    },
    snapshot::{Place, RefError, Snapshot},
};
use octo_protocol::{BrowserDeed, BrowserView, PageElement, PageRisk};
use octo_tools::{
    Awaited, BrowserLeave, BrowserWish, DialogAnswer, Entry, PageAct, Roam, ToolError, Weight, WishedDeed,
};

/// The most of a text that a card shows, in characters.
const SHOWN: usize = 400;

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    pub weight: Weight,
    /// The tab it is about.
    pub tab: Option<Tab>,
    /// The element it is done to, and the one it is dragged onto.
    pub element: Option<Place>,
    pub onto: Option<Place>,
    /// That a number was found again on another element like it.
    pub note: Option<String>,
}

/// Which kind of step a deed is.
fn step(deed: &WishedDeed) -> Step {
    match deed {
        WishedDeed::Open { .. } | WishedDeed::Navigate { .. } => Step::Navigate,
        WishedDeed::Snapshot { .. }
        | WishedDeed::Find { .. }
        | WishedDeed::Read { .. }
        | WishedDeed::Screenshot { .. }
        | WishedDeed::Focus => Step::Read,
        WishedDeed::Status
        | WishedDeed::Tabs
        | WishedDeed::Back
        | WishedDeed::Close
        | WishedDeed::Act(_)
        | WishedDeed::Dialog(_)
        | WishedDeed::Download { .. }
        | WishedDeed::Evaluate { .. } => Step::Act,
    }
}

impl Seat {
    /// Weighs a call.
    pub(super) async fn look(&self, wish: &BrowserWish) -> Result<Found, ToolError> {
        if wish.deed == WishedDeed::Status {
            return Ok(Found::default());
        }
        let connected = self.connect().await?;
        let mut work = self.work().await;
        self.look_in(&mut work, &connected, wish).await
    }

    pub(super) async fn look_in(
        &self,
        work: &mut Work,
        connected: &Connected,
        wish: &BrowserWish,
    ) -> Result<Found, ToolError> {
        let step = step(&wish.deed);
        match &wish.deed {
            WishedDeed::Status | WishedDeed::Tabs => Ok(Found::default()),
            WishedDeed::Open { url } => {
                let address = Address::of(url);
                let weight = Weight { mark: url.clone(), ..self.leads(work, step, &address, url) };
                Ok(Found { weight, ..Found::default() })
            }
            WishedDeed::Navigate { url } => {
                let tab = in_use(work, connected, wish).await?;
                let address = Address::of(url);
                let mark = format!("{} {url}", tab.number);
                let weight = Weight { mark, ..self.leads(work, step, &address, url) };
                Ok(Found { weight, tab: Some(tab), ..Found::default() })
            }
            WishedDeed::Close => {
                let tab = named(connected, wish).await?;
                if tab.owner == Owner::Person {
                    return Err(ToolError::new(format!(
                        "Tab {} is the person's own. Only tabs that were opened from here are closed; ask the person to close it.",
                        tab.number
                    )));
                }
                let weight = Weight { mark: tab.number.to_string(), ..Weight::default() };
                Ok(Found { weight, tab: Some(tab), ..Found::default() })
            }
            WishedDeed::Focus
            | WishedDeed::Snapshot { .. }
            | WishedDeed::Find { .. }
            | WishedDeed::Read { .. }
            | WishedDeed::Screenshot { .. } => {
                let tab = for_reading(work, connected, wish).await?;
                let address = address_of(work, &tab);
                let place = self.place(step, &address);
                let weight = Weight { place, mark: tab.number.to_string(), ..Weight::default() };
                Ok(Found { weight, tab: Some(tab), ..Found::default() })
            }
            WishedDeed::Back
            | WishedDeed::Act(_)
            | WishedDeed::Dialog(_)
            | WishedDeed::Download { .. }
            | WishedDeed::Evaluate { .. } => self.look_at_act(work, connected, wish).await,
        }
    }

    async fn look_at_act(
        &self,
        work: &mut Work,
        connected: &Connected,
        wish: &BrowserWish,
    ) -> Result<Found, ToolError> {
        let tab = in_use(work, connected, wish).await?;
        let page = work.attached(connected, &tab).await?;
        let committed = page.committed();
        let address = Address::of_frame(&committed.url, &committed.origin);
        let place = self.place(Step::Act, &address);
        let mut found = Found {
            weight: Weight {
                place,
                mark: format!("{} {}", tab.number, page.document()),
                ..Weight::default()
            },
            tab: Some(tab.clone()),
            ..Found::default()
        };
        // Nothing of a page is looked at before its site is granted; what could be asked about it comes after that.
        if matches!(found.weight.place.as_ref().map(|place| &place.entry), Some(Entry::Never { .. })) {
            return Ok(found);
        }
        let about = About { page: &page, address: &address, tab: tab.number };
        match &wish.deed {
            WishedDeed::Dialog(answer) => {
                let dialog = page.dialog().ok_or_else(|| ToolError::new("No dialog is open."))?;
                if let DialogAnswer::Accept(text) = answer {
                    let kind = match dialog.kind {
                        octo_browser::DialogKind::Alert => Dialog::Alert,
                        octo_browser::DialogKind::Confirm => Dialog::Confirm,
                        octo_browser::DialogKind::Prompt => Dialog::Prompt,
                        octo_browser::DialogKind::BeforeUnload => Dialog::BeforeUnload,
                    };
                    let text = text.as_deref().unwrap_or_default();
                    let action = Action::AcceptDialog { kind, message: &dialog.message, text };
                    about.judged(&mut found.weight, work, None, &Origin::read(&dialog.url), action);
                    found.weight.target = Some(PageElement {
                        role: dialog.kind.name().to_owned(),
                        name: line(&dialog.message),
                    });
                }
                found.weight.mark.push_str(&format!(" {} {}", dialog.kind.name(), dialog.message));
            }
            WishedDeed::Evaluate { script } => {
                about.judged(
                    &mut found.weight,
                    work,
                    None,
                    &Origin::read(&committed.origin),
                    Action::Evaluate,
                );
                found.weight.mark.push_str(&format!(" {script}"));
            }
            WishedDeed::Download { target } => {
                let (place, facts) = about.element(work, *target, &mut found).await?;
                let name =
                    facts.as_ref().and_then(|facts| facts.element.download.clone()).unwrap_or_default();
                about.judged(
                    &mut found.weight,
                    work,
                    facts.as_ref(),
                    &Origin::read(&place.origin),
                    Action::Download { name: &name },
                );
                found.element = Some(place);
            }
            WishedDeed::Act(act) => about.act(work, act, &mut found).await?,
            _ => {}
        }
        Ok(found)
    }

    /// Where an address leads, and what it would tell the place.
    fn leads(&self, work: &Work, step: Step, address: &Address, url: &str) -> Weight {
        let frame = Origin::Opaque;
        let act = Act {
            page: address,
            frame: &frame,
            language: None,
            loose_fields: None,
            target: Target::Unknown,
            action: Action::Navigate { url },
        };
        let place = self.place(step, address);
        let forbidden = matches!(place.as_ref().map(|place| &place.entry), Some(Entry::Never { .. }));
        let risks = if forbidden { Vec::new() } else { risks(&judge(&act, &work.memory)) };
        Weight { place, risks, ..Weight::default() }
    }

    /// Whether a task may be somewhere.
    fn place(&self, step: Step, address: &Address) -> Option<octo_tools::Place> {
        let entry = match self.grants().check(safety::TabNumber(0), step, address) {
            Verdict::Allowed(_) => Entry::Open,
            Verdict::Refused(why) => Entry::Never { why: why.to_string() },
            Verdict::Ask(question) => match question.longest() {
                Lifetime::Always => Entry::Asks,
                Lifetime::Task => Entry::AsksEachTask,
                Lifetime::Once => Entry::AsksEachTime,
            },
        };
        let site = name_of(address);
        (entry != Entry::Open || !site.is_empty()).then_some(octo_tools::Place { site, entry })
    }

    fn grants(&self) -> Grants {
        let mut grants = Grants::default();
        for port in self.0.browser.ports() {
            grants.refuse_port(port);
        }
        grants
    }

    /// Whether a call with this leave may be where the page is now.
    pub(super) fn may_be_at(&self, leave: &BrowserLeave, address: &Address) -> bool {
        let (mut grants, tab) = (self.grants(), safety::TabNumber(0));
        let place = leave.weight.place.iter().map(|place| &place.site);
        for site in leave.granted.iter().chain(place) {
            if let Verdict::Ask(question) = grants.check(tab, Step::Navigate, &Address::of(site)) {
                let _kept = grants.allow(tab, question, Lifetime::Task);
            }
        }
        match grants.check(tab, Step::Commit, address) {
            Verdict::Allowed(_) => true,
            Verdict::Ask(question) => {
                leave.roam == Roam::Web && matches!(question.kind(), PlaceKind::Web | PlaceKind::Near)
            }
            Verdict::Refused(_) => false,
        }
    }

    /// What the person is shown of a call before it runs.
    pub(super) async fn view(&self, wish: &BrowserWish) -> Result<BrowserView, ToolError> {
        let found = self.look(wish).await?;
        let mut view = view_of(wish, &found);
        // What is asked about is shown as it looks in the page.
        if !found.weight.risks.is_empty()
            && let (Some(place), Some(page)) = (&found.element, self.work().await.page.clone())
            && place.session == *page.session().inner()
        {
            view.picture = self.crop(&page, place).await;
        }
        Ok(view)
    }
}

/// What is weighed of an act in a page.
struct About<'a> {
    page: &'a Page,
    address: &'a Address,
    tab: TabNumber,
}

impl About<'_> {
    fn judged(
        &self,
        weight: &mut Weight,
        work: &Work,
        facts: Option<&facts::Facts>,
        frame: &Origin,
        action: Action<'_>,
    ) {
        let act = Act {
            page: self.address,
            frame,
            language: facts.and_then(|facts| facts.language.as_deref()),
            loose_fields: facts.and_then(|facts| facts.loose),
            target: facts.map_or(Target::Unknown, |facts| Target::Element(&facts.element)),
            action,
        };
        weight.risks.extend(risks(&judge(&act, &work.memory)));
        weight.risks.dedup();
    }

    /// The element of a number, found again by what it was known by where it is gone and only one is like it.
    async fn element(
        &self,
        work: &mut Work,
        number: u32,
        found: &mut Found,
    ) -> Result<(Place, Option<facts::Facts>), ToolError> {
        let mut number = number;
        let refs = work.refs.entry(self.tab).or_default();
        let place = match refs.lookup(number) {
            Ok(place) => place.clone(),
            Err(RefError::NeverGiven { .. }) => {
                return Err(ToolError::new(format!(
                    "There is no element {number}. Numbers come from action snapshot; nothing was done."
                )));
            }
            Err(_) => {
                let captured =
                    hands::capture(self.page).await.map_err(|error| super::carry::fault(&error))?;
                let snapshot = Snapshot::new(&captured, refs);
                let again = refs.again(number, &snapshot).map_err(|error| {
                    ToolError::new(format!(
                        "Element {number} is gone ({error}). Take a snapshot; nothing was done."
                    ))
                })?;
                found.note = Some(format!(
                    "(Element {number} was gone; {again}, the only one of the same kind, name and place, was taken.)"
                ));
                number = again;
                let place = refs.lookup(number).cloned();
                work.last = Some(snapshot);
                place.map_err(|_| ToolError::new("The page changes too fast. Take a snapshot."))?
            }
        };
        let known = work.refs.get(&self.tab).and_then(|refs| refs.known(number)).cloned().unwrap_or_default();
        let facts =
            facts::of(self.page, &place, &known.role, &known.name).await.map_err(|error| match error {
                octo_browser::PageError::Call(octo_browser::CallError::Refused { .. }) => {
                    ToolError::new(format!("Element {number} is gone. Take a snapshot; nothing was done."))
                }
                error => super::carry::fault(&error),
            })?;
        found.weight.target = Some(PageElement { role: known.role, name: line(&known.name) });
        found.weight.mark.push_str(&format!(" {}:{}:{}", place.document.0, place.session, place.node));
        Ok((place, facts))
    }

    async fn act(&self, work: &mut Work, act: &PageAct, found: &mut Found) -> Result<(), ToolError> {
        let plain = |action: Action<'static>| action;
        match act {
            PageAct::Click(target) | PageAct::DoubleClick(target) => {
                self.on(work, *target, plain(Action::Click), found).await
            }
            PageAct::Hover(target) => self.on(work, *target, plain(Action::Hover), found).await,
            PageAct::Select(target, _) => self.on(work, *target, plain(Action::Select), found).await,
            PageAct::Type(target, text) | PageAct::Fill(target, text) => {
                let holds_secret = safety::pieces(text).map_or(true, |pieces| {
                    pieces.iter().any(|piece| matches!(piece, safety::Piece::Secret(_)))
                });
                if holds_secret {
                    return Err(ToolError::new(
                        "No secrets are set up to be typed by name. Ask the person to type it themselves: they can take the page over.",
                    ));
                }
                self.on(work, *target, Action::Type { text, keys: Keys::Inserted }, found).await
            }
            PageAct::Press(Some(target), key) => self.on(work, *target, Action::Press { key }, found).await,
            PageAct::Press(None, key) => {
                let facts = facts::of_focus(self.page).await.map_err(|error| super::carry::fault(&error))?;
                let frame = Origin::read(&self.page.origin());
                self.judged(&mut found.weight, work, facts.as_ref(), &frame, Action::Press { key });
                if let Some(facts) = facts {
                    found.weight.target = Some(named_by_page(&facts.element));
                }
                Ok(())
            }
            PageAct::Upload(target, files) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                self.on(work, *target, Action::Upload { files: &files }, found).await
            }
            PageAct::Drag(from, to) => {
                let (onto, onto_facts) = self.element(work, *to, found).await?;
                let (place, facts) = self.element(work, *from, found).await?;
                let target =
                    onto_facts.as_ref().map_or(Target::Unknown, |facts| Target::Element(&facts.element));
                let frame = Origin::read(&place.origin);
                self.judged(&mut found.weight, work, facts.as_ref(), &frame, Action::Drag { onto: target });
                (found.element, found.onto) = (Some(place), Some(onto));
                Ok(())
            }
            PageAct::ClickAt(x, y) => {
                let place = hands::at_point(self.page, *x, *y).await.map_err(|_| {
                    ToolError::new("Nothing can be pressed at that point of what is seen of the page.")
                })?;
                let facts = facts::of(self.page, &place, "", "")
                    .await
                    .map_err(|error| super::carry::fault(&error))?;
                found.weight.mark.push_str(&format!(" {}:{}", place.document.0, place.node));
                found.weight.target = facts.as_ref().map(|facts| named_by_page(&facts.element));
                let frame = Origin::read(&place.origin);
                self.judged(&mut found.weight, work, facts.as_ref(), &frame, Action::Click);
                found.element = Some(place);
                Ok(())
            }
            PageAct::Scroll(octo_tools::Scrolled::To(target)) => {
                self.on(work, *target, plain(Action::Scroll), found).await
            }
            PageAct::Scroll(_) | PageAct::Wait(_) => Ok(()),
        }
    }

    async fn on(
        &self,
        work: &mut Work,
        target: u32,
        action: Action<'_>,
        found: &mut Found,
    ) -> Result<(), ToolError> {
        let (place, facts) = self.element(work, target, found).await?;
        self.judged(&mut found.weight, work, facts.as_ref(), &Origin::read(&place.origin), action);
        found.element = Some(place);
        Ok(())
    }
}

/// An element without a number, as the page names it.
fn named_by_page(element: &Element) -> PageElement {
    let name = std::iter::once(&element.name).chain(&element.texts).find(|text| !text.trim().is_empty());
    PageElement { role: element.role.clone(), name: line(name.map(String::as_str).unwrap_or_default()) }
}

/// The tab that is in use; a call that names another one is told to change to it first.
async fn in_use(work: &Work, connected: &Connected, wish: &BrowserWish) -> Result<Tab, ToolError> {
    let Some(number) = work.tab else {
        return Err(ToolError::new(
            "No tab is in use. Use action open for a new one, or tabs and then focus. Nothing was done.",
        ));
    };
    match wish.tab {
        Some(other) if other != number.0 => Err(ToolError::new(format!(
            "Tab {other} is not the one in use, which is {number}. Use focus with tab {other} first. Nothing was done."
        ))),
        _ => find(connected, number).await,
    }
}

async fn named(connected: &Connected, wish: &BrowserWish) -> Result<Tab, ToolError> {
    find(connected, TabNumber(wish.tab.unwrap_or_default())).await
}

async fn find(connected: &Connected, number: TabNumber) -> Result<Tab, ToolError> {
    connected.tabs.find(number).await.map_err(|error| match error {
        octo_browser::TabError::Gone(number) => {
            ToolError::new(format!("Tab {number} is gone. Use action tabs to see which there are."))
        }
        error => ToolError::new(format!("The browser did not answer: {error}.")),
    })
}

/// The tab that is to be read: the one that is named, the one in use, or the one the person looks at.
async fn for_reading(work: &Work, connected: &Connected, wish: &BrowserWish) -> Result<Tab, ToolError> {
    if let Some(number) = wish.tab.map(TabNumber).or(work.tab) {
        return find(connected, number).await;
    }
    let tabs = connected.tabs.list().await;
    let tabs = tabs.map_err(|error| ToolError::new(format!("The browser did not answer: {error}.")))?;
    let mut shown = tabs.into_iter().filter(|tab| tab.place.is_some_and(|place| place.shown));
    match (shown.next(), shown.next()) {
        (Some(tab), None) => Ok(tab),
        _ => Err(ToolError::new(
            "No tab is in use, and which one the person looks at cannot be told. Use action tabs, then give tab; or open.",
        )),
    }
}

/// Where a tab is: what its main frame shows, as long as it is attached to.
pub(super) fn address_of(work: &Work, tab: &Tab) -> Address {
    match &work.page {
        Some(page) if page.target() == &tab.target => {
            let committed = page.committed();
            Address::of_frame(&committed.url, &committed.origin)
        }
        _ => Address::of(&tab.url),
    }
}

/// A place's name: its site, or its page.
pub(super) fn name_of(address: &Address) -> String {
    match address {
        Address::Web(site) | Address::Near(site) => site.to_string(),
        Address::Internal { page } | Address::Passwords { page } | Address::File { page } => page.clone(),
        Address::Extension { id } => format!("chrome-extension://{id}"),
        Address::Blank | Address::ErrorPage | Address::Forbidden(_) => String::new(),
    }
}

/// What is asked about, the weightiest first, each once.
fn risks(judgement: &Judgement) -> Vec<PageRisk> {
    let Judgement::Ask(question) = judgement else { return Vec::new() };
    let mut risks: Vec<PageRisk> = Vec::new();
    for risk in question.sinks().iter().map(risk) {
        if !risks.contains(&risk) {
            risks.push(risk);
        }
    }
    risks
}

fn risk(sink: &Sink) -> PageRisk {
    use safety::Deed;
    match sink {
        Sink::Submits(Sensitive::Payment) | Sink::Writes(Sensitive::Payment) => PageRisk::Pays,
        Sink::Submits(Sensitive::Password | Sensitive::Code)
        | Sink::Writes(Sensitive::Password | Sensitive::Code) => PageRisk::Password,
        Sink::Submits(Sensitive::Identity)
        | Sink::Writes(Sensitive::Identity)
        | Sink::SubmitsElsewhere(_)
        | Sink::Enter
        | Sink::Shortcut
        | Sink::Unknown => PageRisk::Sends,
        Sink::Says(Deed::Buy | Deed::Transfer | Deed::Subscribe) => PageRisk::Pays,
        Sink::Says(Deed::Send | Deed::Publish) => PageRisk::Sends,
        Sink::Says(Deed::Delete | Deed::Unsubscribe | Deed::CloseAccount) => PageRisk::Deletes,
        Sink::Says(Deed::Confirm | Deed::Install) | Sink::Accepts(_) | Sink::OpensProgram => {
            PageRisk::Confirms
        }
        Sink::Carries(_) | Sink::Leaks(Leak::Quote(_)) => PageRisk::Carries,
        Sink::Leaks(Leak::Long { .. } | Leak::Encoded | Leak::Mail | Leak::Number) => PageRisk::LongAddress,
        Sink::Uploads(_) => PageRisk::Uploads,
        Sink::Downloads(_) => PageRisk::Downloads,
        Sink::Permits(_) => PageRisk::Permission,
        Sink::Evaluates => PageRisk::Script,
    }
}

/// A call as its card shows it.
pub(super) fn view_of(wish: &BrowserWish, found: &Found) -> BrowserView {
    let (deed, text) = match &wish.deed {
        WishedDeed::Status | WishedDeed::Tabs => (BrowserDeed::Look, None),
        WishedDeed::Open { url } | WishedDeed::Navigate { url } => (BrowserDeed::Open, Some(url.clone())),
        WishedDeed::Back => (BrowserDeed::Open, None),
        WishedDeed::Focus | WishedDeed::Close => (BrowserDeed::Tab, None),
        WishedDeed::Snapshot { .. } | WishedDeed::Read { .. } => (BrowserDeed::Read, None),
        WishedDeed::Find { text } => (BrowserDeed::Read, Some(text.clone())),
        WishedDeed::Screenshot { .. } => (BrowserDeed::Picture, None),
        WishedDeed::Dialog(DialogAnswer::Accept(text)) => (BrowserDeed::Dialog, text.clone()),
        WishedDeed::Dialog(DialogAnswer::Dismiss) => (BrowserDeed::Dialog, None),
        WishedDeed::Download { .. } => (BrowserDeed::Click, None),
        WishedDeed::Evaluate { script } => (BrowserDeed::Script, Some(script.clone())),
        WishedDeed::Act(act) => match act {
            PageAct::Click(_) | PageAct::DoubleClick(_) | PageAct::ClickAt(..) => (BrowserDeed::Click, None),
            PageAct::Type(_, text) | PageAct::Fill(_, text) => (BrowserDeed::Type, Some(text.clone())),
            PageAct::Press(_, key) => (BrowserDeed::Press, Some(key.clone())),
            PageAct::Hover(_) | PageAct::Drag(..) | PageAct::Scroll(_) => (BrowserDeed::Move, None),
            PageAct::Select(_, values) => (BrowserDeed::Select, Some(values.join(", "))),
            PageAct::Wait(Awaited::Text(text)) => (BrowserDeed::Wait, Some(text.clone())),
            PageAct::Wait(Awaited::Time(_)) => (BrowserDeed::Wait, None),
            PageAct::Upload(_, files) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                (BrowserDeed::Upload, Some(files.join("\n")))
            }
        },
    };
    BrowserView {
        deed,
        target: found.weight.target.clone(),
        site: found.weight.place.as_ref().map(|place| place.site.clone()),
        title: found.tab.as_ref().map(|tab| line(&tab.title)),
        tab: found.tab.as_ref().map(|tab| tab.number.0),
        text: text.map(|text| text.chars().take(SHOWN).collect()),
        output: String::new(),
        picture: None,
    }
}

/// A page's words in one bounded line.
pub(super) fn line(text: &str) -> String {
    let clean = octo_browser::snapshot::clean_text(text);
    let words: Vec<&str> = clean.split_whitespace().collect();
    words.join(" ").chars().take(200).collect()
}

/// The tab's title for the live card.
pub(super) fn title_of(found: &Found) -> String {
    found.tab.as_ref().map(|tab| line(&tab.title)).unwrap_or_default()
}

/// The site the page is on, for what is told of it.
pub(super) fn site_now(page: &Page) -> String {
    live::site_of(page)
}
