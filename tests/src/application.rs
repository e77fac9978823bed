//! The real application in a private desktop, driven through WebKit's own driver.

use crate::{
    Desktop,
    display::Display,
    driver::{Driver, children},
};
use anyhow::{Context as _, Result, bail};
use fantoccini::{Client, ClientBuilder, Locator, elements::Element};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::{
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// How long anything the page is waited for may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at the page: its driver has no way to be told.
const BETWEEN: Duration = Duration::from_millis(25);

/// Light or dark, as the desktop says it to applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The running application. It is killed when dropped without [`Application::close`].
pub struct Application {
    client: Client,
    driver: Driver,
    display: Display,
    pictures: PathBuf,
}

impl Application {
    /// Opens the binary named by `OCTO_APP` with `home` as Octo's home.
    ///
    /// # Errors
    /// When it is not built, or the driver does not get hold of its page.
    pub async fn open(desktop: &Desktop, home: &Path, theme: Theme) -> Result<Self> {
        Self::open_program(desktop, &binary()?, home, theme).await
    }

    /// Opens the binary named by `OCTO_APP` as a person does: its home is where it settled itself.
    ///
    /// # Errors
    /// As [`Application::open`].
    pub async fn open_settled(desktop: &Desktop, theme: Theme) -> Result<Self> {
        Self::begin(desktop, &binary()?, &[], None, theme).await
    }

    /// Opens any program with a webview, to compare with.
    ///
    /// # Errors
    /// As [`Application::open`].
    pub async fn open_program(desktop: &Desktop, program: &Path, home: &Path, theme: Theme) -> Result<Self> {
        Self::open_with(desktop, program, &[], home, theme).await
    }

    /// The same with arguments.
    ///
    /// # Errors
    /// As [`Application::open`].
    pub async fn open_with(
        desktop: &Desktop,
        program: &Path,
        arguments: &[String],
        home: &Path,
        theme: Theme,
    ) -> Result<Self> {
        Self::begin(desktop, program, arguments, Some(home), theme).await
    }

    async fn begin(
        desktop: &Desktop,
        program: &Path,
        arguments: &[String],
        home: Option<&Path>,
        theme: Theme,
    ) -> Result<Self> {
        let driver = Driver::start(desktop, home, theme)?;
        let capabilities = json!({ "webkitgtk:browserOptions": { "binary": program, "args": arguments } });
        let Value::Object(capabilities) = capabilities else { bail!("capabilities are an object") };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://{}:{}", Ipv4Addr::LOCALHOST, driver.port))
            .await
            .context("the driver did not get hold of the application")?;
        let pictures = std::env::var_os("OCTO_PICTURES")
            .map_or_else(|| desktop.folder().join("pictures"), PathBuf::from);
        fs::create_dir_all(&pictures)?;
        Ok(Self { client, driver, display: desktop.display()?, pictures })
    }

    /// The first element with this `data-testid`, once it is there and shown. An attribute may follow:
    /// `turn-end[data-end=stopped]`.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn find(&self, id: &str) -> Result<Element> {
        let selector = selector(id);
        self.until(&format!("{id} to appear"), async || {
            let found = self.client.find_all(Locator::Css(&selector)).await?;
            for element in found {
                if element.is_displayed().await? {
                    return Ok(Some(element));
                }
            }
            Ok(None)
        })
        .await
    }

    /// All elements with this `data-testid`, in the order of the page.
    ///
    /// # Errors
    /// When the driver does not answer.
    pub async fn all(&self, id: &str) -> Result<Vec<Element>> {
        Ok(self.client.find_all(Locator::Css(&selector(id))).await?)
    }

    /// The texts of all elements with this `data-testid`, in the order of the page.
    ///
    /// # Errors
    /// When the driver does not answer.
    pub async fn texts(&self, id: &str) -> Result<Vec<String>> {
        // In one step, so that no element goes away between two.
        let all = "return [...document.querySelectorAll(arguments[0])].map((element) => element.innerText)";
        let texts = self.client.execute(all, vec![selector(id).into()]).await?;
        serde_json::from_value(texts).context("a list of texts")
    }

    /// Opens the menu of a button and takes the entry that reads so.
    ///
    /// # Errors
    /// When there is no such entry.
    pub async fn choose(&self, id: &str, entry: &str) -> Result<()> {
        self.click(id).await?;
        self.pick(entry).await.with_context(|| format!("choosing in {id}"))
    }

    /// Takes the entry that reads so from the menu that is open.
    ///
    /// # Errors
    /// When there is no such entry.
    pub async fn pick(&self, entry: &str) -> Result<()> {
        let path = format!("//*[starts-with(@role, 'menuitem')]//*[normalize-space(text()) = '{entry}']");
        let entry =
            self.until(entry, async || Ok(self.client.find_all(Locator::XPath(&path)).await?.pop())).await?;
        Ok(entry.click().await?)
    }

    /// Clicks it, once it is there.
    ///
    /// # Errors
    /// When it does not come or cannot be clicked.
    pub async fn click(&self, id: &str) -> Result<()> {
        // What is redrawn between the two is looked for again.
        self.until(&format!("{id} to be clicked"), async || {
            self.find(id).await?.click().await.with_context(|| format!("clicking {id}"))?;
            Ok(Some(()))
        })
        .await
    }

    /// Replaces what is in it by this text, key by key.
    ///
    /// # Errors
    /// When it does not come or takes no text.
    pub async fn fill(&self, id: &str, text: &str) -> Result<()> {
        let field = self.find(id).await?;
        field.clear().await.with_context(|| format!("clearing {id}"))?;
        field.send_keys(text).await.with_context(|| format!("typing into {id}"))
    }

    /// Types on, after what is in it.
    ///
    /// # Errors
    /// When it does not come or takes no text.
    pub async fn type_into(&self, id: &str, text: &str) -> Result<()> {
        self.find(id).await?.send_keys(text).await.with_context(|| format!("typing into {id}"))
    }

    /// The text of it, as the person reads it.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn text(&self, id: &str) -> Result<String> {
        // The driver's own reading leaves out what is cut short by an ellipsis.
        let read = self.find(id).await?.prop("innerText").await;
        Ok(read.with_context(|| format!("reading {id}"))?.unwrap_or_default().trim().to_owned())
    }

    /// Waits until the text of it fulfils the condition, and returns it.
    ///
    /// # Errors
    /// When that does not happen; the error holds the last text.
    pub async fn text_where(&self, id: &str, what: &str, holds: impl Fn(&str) -> bool) -> Result<String> {
        let last = std::cell::RefCell::new(String::new());
        let outcome = self
            .until(what, async || {
                let text = self.text(id).await?;
                let held = holds(&text);
                last.replace(text.clone());
                Ok(held.then_some(text))
            })
            .await;
        outcome.with_context(|| format!("{id} last read {:?}", last.borrow()))
    }

    /// Runs a script in the page and returns what it returns.
    ///
    /// # Errors
    /// When the script throws.
    pub async fn script(&self, script: &str) -> Result<Value> {
        self.client.execute(script, Vec::new()).await.with_context(|| format!("running {script}"))
    }

    /// Runs a script in the page that calls its last argument when it is done, and returns what it was called with.
    ///
    /// # Errors
    /// When the script throws.
    pub async fn script_async(&self, script: &str) -> Result<Value> {
        self.client.execute_async(script, Vec::new()).await.with_context(|| format!("running {script}"))
    }

    /// Saves a picture of the whole screen as `<name>.png`.
    ///
    /// # Errors
    /// When it cannot be taken or written.
    pub fn screen(&self, name: &str) -> Result<PathBuf> {
        let path = self.pictures.join(format!("{name}.png"));
        self.display.picture(self.display.root(), &path)?;
        Ok(path)
    }

    /// Saves a picture of the window as `<name>.png`, of the screen and not by the driver: without a graphics
    /// card the driver's own never comes.
    ///
    /// # Errors
    /// When it cannot be taken or written.
    pub async fn picture(&self, name: &str) -> Result<PathBuf> {
        let path = self.pictures.join(format!("{name}.png"));
        // What the last change of the page asked for is painted before the frame after next.
        let painted =
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))";
        self.client.execute_async(painted, Vec::new()).await.context("waiting for the page to be painted")?;
        self.display.picture(self.display.window()?, &path)?;
        Ok(path)
    }

    /// Gives the window this size, in pixels.
    ///
    /// # Errors
    /// When there is no window.
    pub async fn resize(&self, width: u32, height: u32) -> Result<()> {
        self.display.resize(self.display.window()?, (width, height))?;
        let size = format!("return innerWidth === {width} && innerHeight === {height}");
        self.until("the window to have its size", async || {
            Ok((self.script(&size).await? == true).then_some(()))
        })
        .await
    }

    /// Waits until `look` finds something. An element that was replaced while it was looked at is looked for
    /// again.
    ///
    /// # Errors
    /// When nothing is found in time.
    pub async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Result<Option<T>>) -> Result<T> {
        let began = Instant::now();
        loop {
            let outcome = look().await;
            match outcome {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(error) if is_stale(&error) => {}
                Err(error) => return Err(error.context(format!("waiting for {what}"))),
            }
            if began.elapsed() > PATIENCE {
                // What the page showed says more than the name of what was missing.
                let shown = self.script("return document.body.innerText").await.unwrap_or_default();
                let _ = self.picture("failed").await;
                bail!(
                    "waited {PATIENCE:?} for {what}; the page reads:\n{}",
                    shown.as_str().unwrap_or_default()
                );
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }

    /// The application as one more process of the same home and desktop, not started yet.
    ///
    /// # Errors
    /// When nothing says which binary it is.
    pub fn beside(desktop: &Desktop, home: &Path) -> Result<Command> {
        let mut command = desktop.command(binary()?);
        command.env("OCTO_HOME", home);
        Ok(command)
    }

    /// Starts the application a second time with the same home, as the desktop does for a link, and waits until that
    /// has handed over what it was started with.
    ///
    /// # Errors
    /// When it does not end well.
    pub fn start_again(desktop: &Desktop, home: &Path, arguments: &[&str]) -> Result<()> {
        let mut second = Self::beside(desktop, home)?.args(arguments).spawn()?;
        let began = Instant::now();
        loop {
            match second.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the second start ended: {status}"),
                None if began.elapsed() > PATIENCE => {
                    second.kill()?;
                    bail!("the second start did not hand over and end");
                }
                None => std::thread::sleep(BETWEEN),
            }
        }
    }

    /// How many windows are on the screen.
    ///
    /// # Errors
    /// When the screen cannot be looked at.
    pub fn windows_shown(&self) -> Result<usize> {
        Ok(self.display.windows()?.len())
    }

    /// What the window shows, seen from outside: for a page the driver lost.
    ///
    /// # Errors
    /// When there is not one window.
    pub fn pixels(&self) -> Result<Vec<u8>> {
        self.display.pixels(self.display.window()?)
    }

    /// Whether the window shows letters, seen from outside.
    ///
    /// # Errors
    /// When there is not one window.
    pub fn is_drawn(&self) -> Result<bool> {
        self.display.is_drawn(self.display.window()?)
    }

    /// Asks the window to close, as the button in its frame does.
    ///
    /// # Errors
    /// When there is not one window.
    pub fn press_close(&self) -> Result<()> {
        self.display.close(self.display.window()?)
    }

    /// Whether the foremost of several windows shows letters.
    ///
    /// # Errors
    /// When there is no window.
    pub fn front_is_drawn(&self) -> Result<bool> {
        self.display.is_drawn(self.display.front()?)
    }

    /// Asks the foremost of several windows to close.
    ///
    /// # Errors
    /// When there is no window.
    pub fn press_close_front(&self) -> Result<()> {
        self.display.close(self.display.front()?)
    }

    /// The process that draws the page; none while there is none.
    ///
    /// # Errors
    /// When the application does not run.
    pub fn page_process(&self) -> Result<Option<u32>> {
        let mut children = children(self.process()?)?.into_iter();
        Ok(children.find(|child| child.name.starts_with("WebKitWebProces")).map(|child| child.id))
    }

    /// Kills the process that draws the page, and says which it was. The driver's hold on the page ends with it.
    ///
    /// # Errors
    /// When there is none.
    pub fn kill_page(&self) -> Result<u32> {
        let drawing = self.page_process()?.context("a process that draws the page")?;
        let killed = Command::new("kill").args(["-KILL", &drawing.to_string()]).status()?;
        if killed.success() { Ok(drawing) } else { bail!("the page's process could not be killed") }
    }

    /// The application's main process.
    ///
    /// # Errors
    /// When it does not run any more.
    pub fn process(&self) -> Result<u32> {
        self.driver.applications()?.first().copied().context("the application runs")
    }

    /// Kills the application in the middle of what it does, and waits until every process of it has ended.
    ///
    /// # Errors
    /// When it does not run, or is still there after a while.
    pub async fn kill(self) -> Result<()> {
        let killed = Command::new("kill").args(["-KILL", &self.process()?.to_string()]).status()?;
        if !killed.success() {
            bail!("the application could not be killed");
        }
        self.ended().await
    }

    /// Closes the window as the person does, and waits until every process of the application has ended.
    ///
    /// # Errors
    /// When it is still there after a while.
    pub async fn close(self) -> Result<()> {
        let window = self.display.window()?;
        self.display.leave(window)?;
        self.ended().await
    }

    /// [`Application::close`], of the window behind all others.
    ///
    /// # Errors
    /// As there.
    pub async fn close_hindmost(self) -> Result<()> {
        let hindmost = self.display.windows()?.first().copied().context("a window")?;
        self.display.leave(hindmost)?;
        self.ended().await
    }

    /// Waits until every process of the application has ended.
    ///
    /// # Errors
    /// When one is still there after a while.
    pub async fn ended(self) -> Result<()> {
        let began = Instant::now();
        while let Some(left) = self.driver.applications()?.first() {
            if began.elapsed() > PATIENCE {
                bail!("the application (process {left}) did not end");
            }
            tokio::time::sleep(BETWEEN).await;
        }
        Ok(())
    }
}

/// A window of the examples, built beside the application that is tested.
///
/// # Errors
/// When nothing says where that is.
pub fn example(name: &str) -> Result<PathBuf> {
    Ok(binary()?.with_file_name("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// The application that is tested.
fn binary() -> Result<PathBuf> {
    Ok(std::env::var_os("OCTO_APP")
        .context("OCTO_APP: cargo xtask test and cargo xtask bench set it")?
        .into())
}

fn selector(id: &str) -> String {
    match id.split_once('[') {
        Some((id, attribute)) => format!("[data-testid=\"{id}\"][{attribute}"),
        None => format!("[data-testid=\"{id}\"]"),
    }
}

/// Whether an element went away between finding and using it.
fn is_stale(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<fantoccini::error::CmdError>()
            .is_some_and(|error| error.is_stale_element_reference() || error.is_no_such_element())
    })
}
