//! The demo, as a newcomer without a key experiences it: the real agent, a question at each step, one real
//! question.

use anyhow::Result;
use octo_tests::{Application, Desktop, Theme};
use std::fs;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn the_demo_finishes_and_identifies_itself() -> Result<()> {
    shown(Theme::Light, "light").await?;
    shown(Theme::Dark, "dark").await
}

async fn shown(theme: Theme, theme_name: &str) -> Result<()> {
    let desktop = Desktop::start()?;
    let home = desktop.folder().join("octo");
    let app = Application::open(&desktop, &home, theme).await?;
    app.click("start-demo").await?;
    app.text_where("transcript", "what it says of itself", |text| text.contains("not a model")).await?;
    app.find("question").await?;
    app.picture(&format!("demo-question-{theme_name}")).await?;
    // Every question is answered yes, the one real question with its first option.
    app.until("the end of the tour", async || {
        if !app.all("turn-end[data-end=finished]").await?.is_empty() {
            return Ok(Some(()));
        }
        if !app.all("feedback-option").await?.is_empty() {
            app.picture(&format!("demo-feedback-{theme_name}")).await?;
        }
        for id in ["question-once", "feedback-option", "feedback-send"] {
            if let Some(button) = app.all(id).await?.into_iter().next() {
                // It may be gone already: answered a moment ago, not yet redrawn.
                let _gone = button.click().await;
            }
        }
        Ok(None)
    })
    .await?;
    app.picture(&format!("demo-end-{theme_name}")).await?;
    let mut made = 0;
    for folder in fs::read_dir(home.join("demo"))? {
        made += fs::read_dir(folder?.path())?.count();
    }
    assert!(made >= 2, "it made real files in a folder of its own");
    app.close().await
}
