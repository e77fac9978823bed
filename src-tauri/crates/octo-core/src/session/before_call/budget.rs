//! Budgets: when one is used up, the turn pauses and asks the person; a budget never aborts work.

use super::{Gate, GatedCall, Passage};
use crate::session::{JobReport, state::Session, step::Step};
use octo_protocol::{
    ApiError, BudgetAnswer, BudgetScope, BudgetStop, Budgets, Cost, ErrorCode, Event, MessageId, SessionId,
    Spending, TurnId,
};
use octo_store::{Reader, StoreError};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

/// How long to wait before a failed lookup is repeated.
const LOOKUP_RETRY_DELAY: Duration = Duration::from_secs(1);

/// A session's budget state.
#[derive(Default)]
pub(in crate::session) struct Budget {
    allowance: Allowance,
    check: BudgetCheck,
}

/// The state of the next model call at this gate.
#[derive(Default)]
enum BudgetCheck {
    /// No call is at this gate.
    #[default]
    None,
    /// The spending is being looked up.
    Pending(MessageId, GatedCall),
    /// A budget is used up, and Octo is asking the person.
    AwaitingAnswer(BudgetStop, GatedCall),
}

/// How far the person lets this session exceed its budgets.
#[derive(Clone, Default)]
pub(in crate::session) struct Allowance {
    /// How many times the limit was added again.
    raised: HashMap<BudgetScope, u64>,
    unlimited: HashSet<BudgetScope>,
}

/// The spending according to the ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpendingTotals {
    task: Spending,
    session: Spending,
    day: Spending,
}

/// The spending before a model call.
pub(crate) struct BudgetReport {
    check: MessageId,
    spent: Result<SpendingTotals, StoreError>,
}

impl Allowance {
    /// Returns the first budget that is used up.
    fn used_up(&self, budgets: &Budgets, totals: &SpendingTotals) -> Option<BudgetStop> {
        let scopes = [
            (BudgetScope::Task, budgets.task, totals.task),
            (BudgetScope::Session, budgets.session, totals.session),
            (BudgetScope::Day, budgets.day, totals.day),
        ];
        scopes.into_iter().find_map(|(scope, limit, spending)| {
            // A zero limit could not be raised.
            let limit = limit.filter(|_| !self.unlimited.contains(&scope))?.max(Cost::from_nano_dollars(1));
            let times = self.raised.get(&scope).copied().unwrap_or(0).saturating_add(1);
            let allowed = Cost::from_nano_dollars(limit.as_nano_dollars().saturating_mul(times));
            (spending.cost >= allowed).then_some(BudgetStop {
                scope,
                spent: spending.cost,
                limit: allowed,
                unpriced: spending.unpriced,
            })
        })
    }

    fn is_raised(&self) -> bool {
        !self.raised.is_empty() || !self.unlimited.is_empty()
    }

    /// Resets the allowance at the start of a turn: an earlier turn's does not count for it.
    fn begin_turn(&mut self) {
        self.raised.remove(&BudgetScope::Task);
        self.unlimited.remove(&BudgetScope::Task);
    }

    /// Applies the person's answer about a used-up budget.
    fn answer(&mut self, answer: BudgetAnswer, stop: &BudgetStop, budgets: &Budgets) {
        let limit = match stop.scope {
            BudgetScope::Task => budgets.task,
            BudgetScope::Session => budgets.session,
            BudgetScope::Day => budgets.day,
        };
        match (answer, limit) {
            (BudgetAnswer::More, Some(limit)) => self.raise(stop, limit),
            (BudgetAnswer::NoLimit, _) => {
                self.unlimited.insert(stop.scope);
            }
            (BudgetAnswer::More, None) | (BudgetAnswer::Stop, _) => {}
        }
    }

    /// Adds the limit as many times as are needed to continue.
    fn raise(&mut self, stop: &BudgetStop, limit: Cost) {
        let times = stop.spent.as_nano_dollars() / limit.as_nano_dollars().max(1);
        self.raised.insert(stop.scope, times.max(1));
    }
}

impl Budget {
    /// Creates the state of a sub-agent, with its parent's allowance.
    pub(in crate::session) fn inherited(allowance: Allowance) -> Self {
        Self { allowance, check: BudgetCheck::None }
    }

    /// Returns how far the person lets this session exceed its budgets.
    pub(in crate::session) fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Whether the person allowed any excess.
    pub(in crate::session) fn is_raised(&self) -> bool {
        self.allowance.is_raised()
    }

    /// Whether Octo is asking the person about a budget.
    pub(in crate::session) fn asks(&self) -> bool {
        matches!(self.check, BudgetCheck::AwaitingAnswer(..))
    }

    /// Resets the state at the start of a turn.
    pub(in crate::session) fn begin_turn(&mut self) {
        self.allowance.begin_turn();
    }

    /// Drops the pending call at the end of its turn.
    pub(in crate::session) fn end_turn(&mut self) {
        self.check = BudgetCheck::None;
    }

    /// Takes the call that waits for a check, if this is still the current check.
    fn take_checked(&mut self, checked: MessageId) -> Option<GatedCall> {
        let BudgetCheck::Pending(check, next) = self.check else { return None };
        (check == checked).then(|| {
            self.check = BudgetCheck::None;
            next
        })
    }
}

impl Session {
    /// Returns the budgets in effect: the person's, this process's limit per turn and the limit of a scheduled
    /// run.
    fn budgets(&self) -> Budgets {
        let budgets = self.runtime.base.preferences().budgets;
        let run_budget = self.runtime.base.config.budget;
        let run = self.runtime.services.schedule().budget_of(self.root());
        Budgets { task: budgets.task.into_iter().chain(run_budget).chain(run).min(), ..budgets }
    }

    /// Checks the budgets. If any are set, it looks up the spending first.
    pub(super) fn is_within_budget(&mut self, next: GatedCall, step: &mut Step) -> Passage {
        if !self.is_counted() || self.budgets() == Budgets::default() {
            return Passage::Open;
        }
        let Some(turn) = self.turn.id().map(|turn| self.root_turn(turn)) else { return Passage::Closed };
        let (check, session) = (MessageId::new(), self.root());
        let (store, report) = (self.runtime.base.store.clone(), self.reporter());
        self.budget.check = BudgetCheck::Pending(check, next);
        step.job(move |_| {
            tokio::spawn(async move {
                // No request is sent before the spending is known. While the store is full or busy, the lookup
                // is repeated.
                let outcome = loop {
                    match store.read(move |reader| spent(reader, session, turn)).await {
                        Err(StoreError::Full | StoreError::Busy) => {
                            tokio::time::sleep(LOOKUP_RETRY_DELAY).await
                        }
                        result => break result,
                    }
                };
                report.send(JobReport::Budget(BudgetReport { check, spent: outcome }));
            });
        });
        Passage::Closed
    }

    /// Continues once the spending is known.
    pub(in crate::session) async fn budget_checked(&mut self, report: BudgetReport) -> Result<(), ApiError> {
        let Some(next) = self.budget.take_checked(report.check) else { return Ok(()) };
        let totals = report.spent?;
        let mut step = Step::default();
        match self.budget.allowance.used_up(&self.budgets(), &totals) {
            Some(stop) => {
                self.budget.check = BudgetCheck::AwaitingAnswer(stop, next);
                step.event(Event::BudgetReached { stop });
            }
            None => self.before_call(Gate::Size, next, &mut step),
        }
        self.finish(step).await
    }

    /// Takes the person's answer.
    pub(in crate::session) async fn answer_budget(&mut self, answer: BudgetAnswer) -> Result<(), ApiError> {
        let BudgetCheck::AwaitingAnswer(stop, next) = self.budget.check else {
            return Err(ApiError::new("budget.none").code(ErrorCode::Gone));
        };
        if answer == BudgetAnswer::Stop {
            return self.stop().await;
        }
        self.budget.check = BudgetCheck::None;
        let budgets = self.budgets();
        self.budget.allowance.answer(answer, &stop, &budgets);
        let mut step = Step::default().with(Event::BudgetAnswered);
        self.call_allowed(next, &mut step);
        self.finish(step).await
    }

    /// Cancels a budget check or question on Stop. Returns whether there was one.
    pub(in crate::session) fn cancel_budget(&mut self, step: &mut Step) -> bool {
        match std::mem::take(&mut self.budget.check) {
            BudgetCheck::None => false,
            BudgetCheck::Pending(..) => true,
            BudgetCheck::AwaitingAnswer(..) => {
                step.event(Event::BudgetAnswered);
                true
            }
        }
    }

    /// Whether a call that the person did not request would exceed a budget.
    pub(in crate::session) async fn is_over_budget(&self) -> Result<bool, ApiError> {
        let budgets = self.budgets();
        let (session, no_turn) = (self.id(), TurnId::new());
        if budgets == Budgets::default() {
            return Ok(false);
        }
        let result = self.runtime.base.store.read(move |reader| spent(reader, session, no_turn)).await;
        let totals = result?;
        Ok(self.budget.allowance.used_up(&Budgets { task: None, ..budgets }, &totals).is_some())
    }
}

fn spent(reader: &Reader<'_>, session: SessionId, turn: TurnId) -> Result<SpendingTotals, StoreError> {
    Ok(SpendingTotals {
        task: reader.turn_spending(turn)?,
        session: reader.session_spending(session)?,
        day: reader.spending_since(midnight())?,
    })
}

/// Returns the start of today by the machine's clock.
pub(crate) fn midnight() -> octo_protocol::Millis {
    let now = jiff::Zoned::now();
    now.start_of_day().map_or_else(|_| now.timestamp(), |start| start.timestamp()).as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spending(cost: u64) -> Spending {
        Spending { calls: 1, cost: Cost::from_nano_dollars(cost), ..Spending::default() }
    }

    #[test]
    fn the_first_budget_that_is_used_up_asks_until_it_is_raised_or_lifted() {
        let cost = |nano| Some(Cost::from_nano_dollars(nano));
        let budgets = Budgets { task: cost(10), session: cost(100), day: None };
        let totals = SpendingTotals { task: spending(35), session: spending(100), day: spending(9_999) };
        let mut allowance = Allowance::default();
        let stop = allowance.used_up(&budgets, &totals).unwrap();
        assert_eq!((stop.scope, stop.limit), (BudgetScope::Task, Cost::from_nano_dollars(10)));
        allowance.raise(&stop, Cost::from_nano_dollars(10));
        // The spending is 35 of 10: three more tens raise the limit to 40.
        let stop = allowance.used_up(&budgets, &totals).unwrap();
        assert_eq!(stop.scope, BudgetScope::Session);
        allowance.unlimited.insert(BudgetScope::Session);
        assert_eq!(allowance.used_up(&budgets, &totals), None);
        let higher = SpendingTotals { task: spending(40), ..totals };
        assert_eq!(allowance.used_up(&budgets, &higher).unwrap().limit, Cost::from_nano_dollars(40));
        let unlimited = Budgets { day: cost(u64::MAX), ..Budgets::default() };
        assert_eq!(allowance.used_up(&unlimited, &totals), None);
        let zero = Budgets { day: cost(0), ..Budgets::default() };
        assert!(Allowance::default().used_up(&zero, &totals).is_some());
    }
}
