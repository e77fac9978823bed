//! The `request_user_feedback` tool: a question to the person.

use crate::{AsksPerson, Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput};
use octo_protocol::ToolView;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

pub(crate) struct RequestUserFeedbackTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct FeedbackInput {
    /// The question.
    question: String,
    /// What the person must know to answer.
    context: Option<String>,
    /// Answers to choose from; the person may also write another.
    options: Option<Vec<String>>,
}

impl Tool for RequestUserFeedbackTool {
    const NAME: &'static str = "request_user_feedback";
    const DESCRIPTION: &'static str = "Asks the person one question and waits. Only for what you cannot find \
        out yourself. Calls after it in the same message do not run.";
    type Input = FeedbackInput;

    fn effects(&self, _input: &FeedbackInput, _cwd: &Path) -> Effects {
        Effects { asks_person: AsksPerson::Yes, ..Effects::none() }
    }

    async fn preview(&self, input: &FeedbackInput, _context: &ToolContext) -> Result<ToolView, ToolError> {
        view(input)
    }

    async fn run(&self, input: FeedbackInput, _context: ToolContext) -> Result<ToolOutput, ToolError> {
        let view = view(&input)?;
        let text = "The question was put to the person; they have not answered yet.".to_owned();
        Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::AwaitsPerson })
    }
}

fn view(input: &FeedbackInput) -> Result<ToolView, ToolError> {
    let question = input.question.trim();
    if question.is_empty() {
        return Err(ToolError::new(
            "The question is empty. Say in `question` what the person should answer.",
        ));
    }
    let mut options: Vec<String> = Vec::new();
    for option in input.options.iter().flatten().map(|option| option.trim()) {
        if !option.is_empty() && !options.iter().any(|accepted| accepted == option) {
            options.push(option.to_owned());
        }
    }
    Ok(ToolView::Feedback {
        question: question.to_owned(),
        context: input.context.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned),
        options,
        answer: None,
    })
}
