//! Requests about the person's browser.

use super::LiveSettings;
use crate::reply::json;
use crate::session::ForgetRule;
use octo_protocol::{
    Acknowledgement, ApiError, BrowserReport, BrowserRequest, ErrorCode, GrantedSite, GrantedSites,
    PageController, Rule, SessionId, SiteSecret, SiteSecrets,
};
use serde_json::Value;

impl LiveSettings {
    /// Carries out a request about the browser.
    pub(crate) async fn browser(&self, request: BrowserRequest) -> Result<Value, ApiError> {
        let browser = &self.services.browser;
        match request {
            BrowserRequest::FindBrowsers(_) => json(browser.find().await),
            BrowserRequest::ChooseBrowser(call) => {
                self.change(move |_, settings| {
                    settings.browser = call.choice;
                    Ok(())
                })
                .await?;
                json(Acknowledgement {})
            }
            BrowserRequest::AttachBrowser(_) => {
                browser.person_acted();
                let browser = browser.clone();
                // The browser's topic reports the progress.
                tokio::spawn(async move { browser.connect().await.map(drop) });
                json(Acknowledgement {})
            }
            BrowserRequest::DetachBrowser(_) => {
                browser.detach().await;
                json(Acknowledgement {})
            }
            BrowserRequest::ExamineBrowser(_) => json(BrowserReport { checks: browser.examine().await }),
            BrowserRequest::ListSiteSecrets(_) => {
                let settings = self.base.store.read(|reader| reader.settings_state()).await;
                let mut secrets = settings?.settings.site_secrets;
                secrets.sort_by(|left, right| (&left.site, &left.name).cmp(&(&right.site, &right.name)));
                json(SiteSecrets { secrets })
            }
            BrowserRequest::SaveSiteSecret(call) => {
                let previous = self.site_secret(&call.name).await?;
                let saved = browser.secrets().save(&call.name, &call.site, call.value).await?;
                let listed = saved.clone();
                self.change(move |_, settings| {
                    settings.site_secrets.retain(|secret| secret.name != listed.name);
                    settings.site_secrets.push(listed);
                    Ok(())
                })
                .await?;
                // Once another site's value is in effect the former one is of no use.
                if let Some(previous) = previous.filter(|previous| previous.site != saved.site) {
                    browser.secrets().forget(&previous).await?;
                }
                json(saved)
            }
            BrowserRequest::ForgetSiteSecret(call) => {
                if let Some(secret) = self.site_secret(&call.name).await? {
                    // Octo stops typing it before its value is deleted.
                    self.change(move |_, settings| {
                        settings.site_secrets.retain(|secret| secret.name != call.name);
                        Ok(())
                    })
                    .await?;
                    browser.secrets().forget(&secret).await?;
                }
                json(Acknowledgement {})
            }
            BrowserRequest::TakePage(call) => self.set_controller(call.session, PageController::Person),
            BrowserRequest::GiveBackPage(call) => self.set_controller(call.session, PageController::Agent),
            BrowserRequest::ListSites(_) => {
                let rules = self.base.store.read(|reader| reader.site_rules()).await?;
                let mut sites: Vec<GrantedSite> =
                    rules.into_iter().map(|(folder, site)| GrantedSite { site, folder }).collect();
                sites.sort_by(|left, right| (&left.site, &left.folder).cmp(&(&right.site, &right.folder)));
                json(GrantedSites { sites })
            }
            BrowserRequest::ForgetSite(call) => {
                let GrantedSite { site, folder } = call.site;
                let rule = Rule::Site { site };
                let (scope, dropped) = (folder.clone(), rule.clone());
                let result = self.base.store.write(move |tx| tx.remove_rule(&scope, &dropped)).await;
                result?;
                // Sessions running in that folder must not continue with it.
                let handles: Vec<_> = self.runtime.open.all().await;
                for handle in handles {
                    let (folder, rule) = (folder.clone(), rule.clone());
                    // A session that has just ended has already forgotten it.
                    let _ended = handle.call(ForgetRule::new(folder, rule)).await;
                }
                json(Acknowledgement {})
            }
        }
    }

    async fn site_secret(&self, name: &str) -> Result<Option<SiteSecret>, ApiError> {
        let settings = self.base.store.read(|reader| reader.settings_state()).await?;
        Ok(settings.settings.site_secrets.into_iter().find(|secret| secret.name == name))
    }

    fn set_controller(&self, session: SessionId, controller: PageController) -> Result<Value, ApiError> {
        let browser_session = self
            .services
            .browser
            .existing_session(session)
            .filter(|browser_session| browser_session.live().is_some());
        match browser_session {
            Some(browser_session) => {
                browser_session.set_controller(controller);
                json(Acknowledgement {})
            }
            // Handing back a page that was released meanwhile is not an error.
            None if controller == PageController::Agent => json(Acknowledgement {}),
            None => Err(ApiError::new("browser.no_page").code(ErrorCode::Gone)),
        }
    }
}
