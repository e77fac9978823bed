//! Budgets: a turn pauses and asks when one is used up; nothing is ever killed for it.

use super::{
    Report,
    entry::Held,
    model_call::Attempt,
    state::{Change, Session},
    turns::Step,
};
use octo_protocol::{
    ApiError, BudgetAnswer, BudgetScope, BudgetStop, Budgets, Cost, ErrorCode, Event, MessageId, SessionId,
    Spending, TurnId,
};
use octo_store::{Reader, StoreError};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

/// How long until what could not be looked up is looked up again.
const AGAIN: Duration = Duration::from_secs(1);

/// What follows once the budgets allow it.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// A new model call.
    Call,
    /// A certain try of one.
    Attempt(Attempt),
}

/// How far the person let budgets be exceeded.
#[derive(Clone, Default)]
pub(super) struct Allowance {
    /// So many times the limit was given again.
    raised: HashMap<BudgetScope, u64>,
    unlimited: HashSet<BudgetScope>,
}

impl Allowance {
    /// Whether the person let any be exceeded.
    pub(super) fn is_raised(&self) -> bool {
        !self.raised.is_empty() || !self.unlimited.is_empty()
    }
}

/// What was spent, as the ledger has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    task: Spending,
    session: Spending,
    day: Spending,
}

/// What was spent before a model call.
pub(crate) struct BudgetReport {
    check: MessageId,
    spent: Result<Spent, StoreError>,
}

impl Allowance {
    /// The first budget that is used up.
    fn used_up(&self, budgets: &Budgets, spent: &Spent) -> Option<BudgetStop> {
        let scopes = [
            (BudgetScope::Task, budgets.task, spent.task),
            (BudgetScope::Session, budgets.session, spent.session),
            (BudgetScope::Day, budgets.day, spent.day),
        ];
        scopes.into_iter().find_map(|(scope, limit, spent)| {
            // Nothing at all would be no limit that could be raised.
            let limit = limit.filter(|_| !self.unlimited.contains(&scope))?.max(Cost::nano_dollars(1));
            let times = self.raised.get(&scope).copied().unwrap_or(0).saturating_add(1);
            let allowed = Cost::nano_dollars(limit.as_nano_dollars().saturating_mul(times));
            (spent.cost >= allowed).then_some(BudgetStop {
                scope,
                spent: spent.cost,
                limit: allowed,
                unpriced: spent.unpriced,
            })
        })
    }

    /// Gives a limit again, as often as it takes to go on.
    fn raise(&mut self, stop: &BudgetStop, limit: Cost) {
        let times = stop.spent.as_nano_dollars() / limit.as_nano_dollars().max(1);
        self.raised.insert(stop.scope, times.max(1));
    }
}

impl Session {
    /// The budgets that count here: the person's, what this process was told a turn may cost, and what a task's run may.
    fn budgets(&self) -> Budgets {
        let budgets = self.runtime.base.preferences().budgets;
        let own = self.runtime.base.config.budget;
        let run = self.runtime.services.schedule().budget_of(self.root());
        Budgets { task: budgets.task.into_iter().chain(own).chain(run).min(), ..budgets }
    }

    /// Looks at the budgets before a model call, if there are any; the call follows.
    pub(super) fn call_within_budget(&mut self, next: Next, step: &mut Step) {
        let budgets = self.budgets();
        if !self.is_counted() || budgets == Budgets::default() {
            return self.go_on_to(next, step);
        }
        let check = MessageId::new();
        let root = self.root();
        let Some(turn) = self.running.as_ref().map(|running| self.root_turn(running.view.id)) else { return };
        let Some(running) = &mut self.running else { return };
        running.checking = Some((check, next));
        let (session, turn, store, report) = (root, turn, self.runtime.base.store.clone(), self.reporter());
        step.jobs.push(Box::new(move |_| {
            tokio::spawn(async move {
                // Nothing is sent before it is known; where that takes room or patience, it is looked up again.
                let spent = loop {
                    match store.read(move |reader| spent(reader, session, turn)).await {
                        Err(StoreError::Full | StoreError::Busy) => tokio::time::sleep(AGAIN).await,
                        spent => break spent,
                    }
                };
                report(Report::Budget(BudgetReport { check, spent }));
            });
        }));
    }

    fn go_on_to(&mut self, next: Next, step: &mut Step) {
        match next {
            Next::Call => self.call_now(step),
            Next::Attempt(attempt) => self.attempt_model(attempt, step),
        }
    }

    /// What was spent is known.
    pub(super) async fn budget_checked(&mut self, report: BudgetReport) -> Result<(), ApiError> {
        let Some(running) = &mut self.running else { return Ok(()) };
        let Some((_, next)) = running.checking.take_if(|(check, _)| *check == report.check) else {
            return Ok(());
        };
        let spent = report.spent?;
        let mut step = Step::default();
        match self.allowance.used_up(&self.budgets(), &spent) {
            Some(stop) => {
                if let Some(running) = &mut self.running {
                    running.budget = Some((stop, next));
                }
                step.changes.push(Change::Event(Event::BudgetReached { stop }));
            }
            None => self.go_on_to(next, &mut step),
        }
        self.finish(step).await
    }

    /// The person answers.
    pub(super) async fn answer_budget(&mut self, answer: BudgetAnswer) -> Result<(), ApiError> {
        let none = || ApiError::new("budget.none").code(ErrorCode::Gone);
        let (stop, next) = self.running.as_ref().and_then(|running| running.budget).ok_or_else(none)?;
        if answer == BudgetAnswer::Stop {
            return self.stop().await;
        }
        if let Some(running) = &mut self.running {
            running.budget = None;
        }
        let budgets = self.budgets();
        let limit = match stop.scope {
            BudgetScope::Task => budgets.task,
            BudgetScope::Session => budgets.session,
            BudgetScope::Day => budgets.day,
        };
        match (answer, limit) {
            (BudgetAnswer::More, Some(limit)) => self.allowance.raise(&stop, limit),
            (BudgetAnswer::NoLimit, _) => {
                self.allowance.unlimited.insert(stop.scope);
            }
            (BudgetAnswer::More, None) | (BudgetAnswer::Stop, _) => {}
        }
        let mut step = Step::default();
        step.changes.push(Change::Event(Event::BudgetAnswered));
        self.once_admitted(Held::Allowed(next), &mut step);
        self.finish(step).await
    }

    /// Stop while a budget is looked at or waits for its answer; whether it did.
    pub(super) fn cancel_budget(&mut self, step: &mut Step) -> bool {
        let Some(running) = &mut self.running else { return false };
        let checking = running.checking.take().is_some();
        let waiting = running.budget.take().is_some();
        if waiting {
            step.changes.push(Change::Event(Event::BudgetAnswered));
        }
        checking || waiting
    }

    /// A turn begins: what was allowed to an earlier one does not count for it.
    pub(super) fn reset_task_budget(&mut self) {
        self.allowance.raised.remove(&BudgetScope::Task);
        self.allowance.unlimited.remove(&BudgetScope::Task);
    }

    /// Whether a call nobody asked for would exceed a budget.
    pub(super) async fn is_over_budget(&self) -> Result<bool, ApiError> {
        let budgets = self.budgets();
        let (session, none) = (self.id(), TurnId::new());
        if budgets == Budgets::default() {
            return Ok(false);
        }
        let spent = self.runtime.base.store.read(move |reader| spent(reader, session, none)).await;
        let spent = spent?;
        Ok(self.allowance.used_up(&Budgets { task: None, ..budgets }, &spent).is_some())
    }
}

fn spent(reader: &Reader<'_>, session: SessionId, turn: TurnId) -> Result<Spent, StoreError> {
    Ok(Spent {
        task: reader.turn_spending(turn)?,
        session: reader.session_spending(session)?,
        day: reader.spending_since(midnight())?,
    })
}

/// The beginning of today on the machine's clock.
pub(crate) fn midnight() -> octo_protocol::Millis {
    let now = jiff::Zoned::now();
    now.start_of_day().map_or_else(|_| now.timestamp(), |start| start.timestamp()).as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spending(cost: u64) -> Spending {
        Spending { calls: 1, cost: Cost::nano_dollars(cost), ..Spending::default() }
    }

    #[test]
    fn the_first_budget_that_is_used_up_asks_until_it_is_raised_or_lifted() {
        let cost = |nano| Some(Cost::nano_dollars(nano));
        let budgets = Budgets { task: cost(10), session: cost(100), day: None };
        let spent = Spent { task: spending(35), session: spending(100), day: spending(9_999) };
        let mut allowance = Allowance::default();
        let stop = allowance.used_up(&budgets, &spent).unwrap();
        assert_eq!((stop.scope, stop.limit), (BudgetScope::Task, Cost::nano_dollars(10)));
        allowance.raise(&stop, Cost::nano_dollars(10));
        // 35 of 10 was spent: three more tens reach to 40.
        let next = allowance.used_up(&budgets, &spent).unwrap();
        assert_eq!(next.scope, BudgetScope::Session);
        allowance.unlimited.insert(BudgetScope::Session);
        assert_eq!(allowance.used_up(&budgets, &spent), None);
        let more = Spent { task: spending(40), ..spent };
        assert_eq!(allowance.used_up(&budgets, &more).unwrap().limit, Cost::nano_dollars(40));
        let most = Budgets { day: cost(u64::MAX), ..Budgets::default() };
        assert_eq!(allowance.used_up(&most, &spent), None);
        let nothing = Budgets { day: cost(0), ..Budgets::default() };
        assert!(Allowance::default().used_up(&nothing, &spent).is_some());
    }
}
