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

/// Timeout for any change of the page on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Polling interval: the driver cannot notify about changes.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Light or dark, as the desktop reports it to applications.
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
    /// When it is not built, or the driver cannot attach to its page.
    pub async fn open(desktop: &Desktop, home: &Path, theme: Theme) -> Result<Self> {
        Self::open_program(desktop, &binary()?, home, theme).await
    }

    /// Opens the binary named by `OCTO_APP` as a person does: it chooses its own home.
    ///
    /// # Errors
    /// Like [`Application::open`].
    pub async fn open_settled(desktop: &Desktop, theme: Theme) -> Result<Self> {
        Self::begin(desktop, &binary()?, &[], None, theme).await
    }

    /// Opens any program with a webview, for comparison.
    ///
    /// # Errors
    /// Like [`Application::open`].
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

    /// Returns the first element with this `data-testid`, once it exists and is visible. An attribute may
    /// follow: `turn-end[data-end=stopped]`.
    ///
    /// # Errors
    /// When it does not appear.
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
        // In one step, so that no element disappears in between.
        let script =
            "return [...document.querySelectorAll(arguments[0])].map((element) => element.innerText)";
        let texts = self.client.execute(script, vec![selector(id).into()]).await?;
        serde_json::from_value(texts).context("a list of texts")
    }

    /// Opens the menu of a button and chooses the entry with this label.
    ///
    /// # Errors
    /// When there is no such entry.
    pub async fn choose(&self, id: &str, entry: &str) -> Result<()> {
        self.click(id).await?;
        self.pick(entry).await.with_context(|| format!("choosing in {id}"))
    }

    /// Chooses the entry with this label from the open menu.
    ///
    /// # Errors
    /// When there is no such entry.
    pub async fn pick(&self, entry: &str) -> Result<()> {
        let path = format!("//*[starts-with(@role, 'menuitem')]//*[normalize-space(text()) = '{entry}']");
        let entry =
            self.until(entry, async || Ok(self.client.find_all(Locator::XPath(&path)).await?.pop())).await?;
        Ok(entry.click().await?)
    }

    /// Clicks an element, once it exists.
    ///
    /// # Errors
    /// When it does not appear or cannot be clicked.
    pub async fn click(&self, id: &str) -> Result<()> {
        // An element redrawn between the two is looked up again.
        self.until(&format!("{id} to be clicked"), async || {
            self.find(id).await?.click().await.with_context(|| format!("clicking {id}"))?;
            Ok(Some(()))
        })
        .await
    }

    /// Replaces a field's content with this text, key by key.
    ///
    /// # Errors
    /// When it does not appear or accepts no text.
    pub async fn fill(&self, id: &str, text: &str) -> Result<()> {
        let field = self.find(id).await?;
        field.clear().await.with_context(|| format!("clearing {id}"))?;
        field.send_keys(text).await.with_context(|| format!("typing into {id}"))
    }

    /// Types text after a field's content.
    ///
    /// # Errors
    /// When it does not appear or accepts no text.
    pub async fn type_into(&self, id: &str, text: &str) -> Result<()> {
        self.find(id).await?.send_keys(text).await.with_context(|| format!("typing into {id}"))
    }

    /// Returns an element's text, as the person reads it.
    ///
    /// # Errors
    /// When it does not appear.
    pub async fn text(&self, id: &str) -> Result<String> {
        // The driver's own reading omits text cut off by an ellipsis.
        let read = self.find(id).await?.prop("innerText").await;
        Ok(read.with_context(|| format!("reading {id}"))?.unwrap_or_default().trim().to_owned())
    }

    /// Waits until an element's text fulfils the condition, and returns it.
    ///
    /// # Errors
    /// When that does not happen; the error contains the last text.
    pub async fn text_where(
        &self,
        id: &str,
        expectation: &str,
        matches: impl Fn(&str) -> bool,
    ) -> Result<String> {
        let last_text = std::cell::RefCell::new(String::new());
        let outcome = self
            .until(expectation, async || {
                let text = self.text(id).await?;
                let is_met = matches(&text);
                last_text.replace(text.clone());
                Ok(is_met.then_some(text))
            })
            .await;
        outcome.with_context(|| format!("{id} last read {:?}", last_text.borrow()))
    }

    /// Runs a script in the page and returns what it returns.
    ///
    /// # Errors
    /// When the script throws.
    pub async fn script(&self, script: &str) -> Result<Value> {
        self.client.execute(script, Vec::new()).await.with_context(|| format!("running {script}"))
    }

    /// Runs a script in the page that calls its last argument when it is done, and returns that call's value.
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

    /// Saves a picture of the window as `<name>.png`, taken from the screen and not by the driver: without a
    /// graphics card the driver's own never arrives.
    ///
    /// # Errors
    /// When it cannot be taken or written.
    pub async fn picture(&self, name: &str) -> Result<PathBuf> {
        let path = self.pictures.join(format!("{name}.png"));
        // Painting requested by the page's last change is done before the frame after next.
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

    /// Waits until `look` returns something. If an element was replaced meanwhile, `look` is called again.
    ///
    /// # Errors
    /// When nothing is found in time.
    pub async fn until<T>(&self, expectation: &str, check: impl AsyncFn() -> Result<Option<T>>) -> Result<T> {
        let started = Instant::now();
        loop {
            let outcome = check().await;
            match outcome {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(error) if is_stale(&error) => {}
                Err(error) => return Err(error.context(format!("waiting for {expectation}"))),
            }
            if started.elapsed() > PATIENCE {
                // The page's content says more than the name of the missing element.
                let page_text = self.script("return document.body.innerText").await.unwrap_or_default();
                let _ = self.picture("failed").await;
                bail!(
                    "waited {PATIENCE:?} for {expectation}; the page reads:\n{}",
                    page_text.as_str().unwrap_or_default()
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Creates a command for the application as a further process on the same home and desktop.
    ///
    /// # Errors
    /// When no variable names the binary.
    pub fn second_process(desktop: &Desktop, home: &Path) -> Result<Command> {
        let mut command = desktop.command(binary()?);
        command.env("OCTO_HOME", home);
        Ok(command)
    }

    /// Starts the application a second time with the same home, as the desktop does for a link, and waits until
    /// it has passed on its arguments.
    ///
    /// # Errors
    /// When it does not end successfully.
    pub fn start_again(desktop: &Desktop, home: &Path, arguments: &[&str]) -> Result<()> {
        let mut second = Self::second_process(desktop, home)?.args(arguments).spawn()?;
        let started = Instant::now();
        loop {
            match second.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the second start ended: {status}"),
                None if started.elapsed() > PATIENCE => {
                    second.kill()?;
                    bail!("the second start did not hand over and end");
                }
                None => std::thread::sleep(POLL_INTERVAL),
            }
        }
    }

    /// Returns the number of windows on the screen.
    ///
    /// # Errors
    /// When the screen cannot be read.
    pub fn windows_shown(&self) -> Result<usize> {
        Ok(self.display.windows()?.len())
    }

    /// Returns the window's pixels, read from the screen: for a page the driver lost.
    ///
    /// # Errors
    /// When there is not exactly one window.
    pub fn pixels(&self) -> Result<Vec<u8>> {
        self.display.pixels(self.display.window()?)
    }

    /// Returns whether the window shows letters, read from the screen.
    ///
    /// # Errors
    /// When there is not exactly one window.
    pub fn is_drawn(&self) -> Result<bool> {
        self.display.is_drawn(self.display.window()?)
    }

    /// Asks the window to close, as the button in its frame does.
    ///
    /// # Errors
    /// When there is not exactly one window.
    pub fn press_close(&self) -> Result<()> {
        self.display.close(self.display.window()?)
    }

    /// Returns whether the frontmost of several windows shows letters.
    ///
    /// # Errors
    /// When there is no window.
    pub fn front_is_drawn(&self) -> Result<bool> {
        self.display.is_drawn(self.display.front()?)
    }

    /// Asks the frontmost of several windows to close.
    ///
    /// # Errors
    /// When there is no window.
    pub fn press_close_front(&self) -> Result<()> {
        self.display.close(self.display.front()?)
    }

    /// Returns the page's rendering process, or `None` if there is none.
    ///
    /// # Errors
    /// When the application does not run.
    pub fn page_process(&self) -> Result<Option<u32>> {
        let mut children = children(self.process()?)?.into_iter();
        Ok(children.find(|child| child.name.starts_with("WebKitWebProces")).map(|child| child.id))
    }

    /// Kills the page's rendering process and returns its id. The driver's connection to the page ends with it.
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

    /// Kills the application in the middle of its work, and waits until all its processes have ended.
    ///
    /// # Errors
    /// When it does not run, or still exists after a while.
    pub async fn kill(self) -> Result<()> {
        let killed = Command::new("kill").args(["-KILL", &self.process()?.to_string()]).status()?;
        if !killed.success() {
            bail!("the application could not be killed");
        }
        self.ended().await
    }

    /// Closes the window as the person does, and waits until all the application's processes have ended.
    ///
    /// # Errors
    /// When it still exists after a while.
    pub async fn close(self) -> Result<()> {
        let window = self.display.window()?;
        self.display.close_and_confirm(window)?;
        self.ended().await
    }

    /// Like [`Application::close`], for the window behind all others.
    ///
    /// # Errors
    /// Like [`Application::close`].
    pub async fn close_rearmost(self) -> Result<()> {
        let hindmost = self.display.windows()?.first().copied().context("a window")?;
        self.display.close_and_confirm(hindmost)?;
        self.ended().await
    }

    /// Waits until all the application's processes have ended.
    ///
    /// # Errors
    /// When one still exists after a while.
    pub async fn ended(self) -> Result<()> {
        let started = Instant::now();
        while let Some(application) = self.driver.applications()?.first() {
            if started.elapsed() > PATIENCE {
                bail!("the application (process {application}) did not end");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }
}

/// Returns an example window, built next to the tested application.
///
/// # Errors
/// When no variable names its folder.
pub fn example(name: &str) -> Result<PathBuf> {
    Ok(binary()?.with_file_name("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the tested application.
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

/// Returns whether an element disappeared between finding and using it.
fn is_stale(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<fantoccini::error::CmdError>()
            .is_some_and(|error| error.is_stale_element_reference() || error.is_no_such_element())
    })
}
