/**
 * Takes screenshots of every screen against the replay and checks each with axe.
 *
 *   node scripts/pictures.mjs OUT [SCENE …]
 *
 * The browser is the system's Chromium (CHROMIUM, default /usr/bin/chromium).
 */
import axe from "axe-core";
import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { createServer } from "vite";

/** The time of the recordings, so that they count as "today" in the pictures. */
const NOW = new Date("2026-11-21T14:02:48Z");

/** Opens a page from the sidebar, which is closed in a narrow window. */
async function open(page, name) {
  const button = page.getByTestId(`open-${name}`);
  if (!(await button.isVisible())) await page.locator(".side-open").first().click();
  await button.click();
  await page.waitForSelector(".library-split");
}

/** Opens an element that only a narrow window hides. */
async function one(page, id) {
  const button = page.getByTestId(id);
  if (await button.isVisible()) await button.click();
}

/** Opens the activity page. */
async function activity(page) {
  await page.keyboard.press("Control+j");
  await page.waitForSelector('[data-testid="activity-row"], [data-testid="activity-empty"]');
}

/** Opens a step of onboarding. */
async function onboarding(page, step) {
  await page.getByTestId(`onboarding-step-${step}`).evaluate((button) => button.click());
  await page.locator(`[data-step=${step}]`).waitFor();
}

/** Opens a page of settings. */
async function settingsPage(page, name) {
  await page.getByTestId("open-settings").click();
  await page.locator(`[data-page=${name}]`).first().click();
  await page.waitForSelector(".settings-page > *");
}

/** A scene of each page of the settings; those below by the same name do more there. */
const settingsScenes = Object.fromEntries(
  [
    ...readFileSync(new URL("../src/lib/app/settings-pages.ts", import.meta.url), "utf8").matchAll(
      /^ {4}id: "(\w+)"/gm,
    ),
  ].map(([, id = ""]) => [
    `settings-${id}`,
    { fake: "main", side: true, act: (/** @type {import("playwright-core").Page} */ page) => settingsPage(page, id) },
  ]),
);

/** Each is also an end-to-end scene. */
export const scenes = {
  ...settingsScenes,
  main: { fake: "main" },
  permission: { fake: "permission" },
  feedback: { fake: "feedback" },
  long: { fake: "long" },
  "steps-folded": {
    fake: "main",
    async act(page) {
      await page.getByTestId("step-group").first().waitFor();
      // Folding one brings others into view, so each pass queries them again.
      const open = page.locator('[data-testid="step-group"][aria-expanded="true"]');
      while ((await open.count()) > 0) await open.first().evaluate((button) => button.click());
      await page.waitForSelector('[data-testid="step-group"][aria-expanded="false"]');
    },
  },
  closing: {
    fake: "main",
    query: "&closing",
    async act(page) {
      await page.waitForSelector('[data-testid="closing"][open]');
    },
  },
  // The quick ask window in its own size.
  "quick-ask": {
    fake: "main",
    query: "&quick",
    size: [680, 176],
    async act(page) {
      await page.getByTestId("quick-text").fill("What changed in harbor since Friday?");
    },
  },
  "first-run": { fake: "first-run" },
  "onboarding-language": { fake: "first-run", act: (page) => onboarding(page, "language") },
  "onboarding-persona": {
    fake: "first-run",
    async act(page) {
      await onboarding(page, "persona");
      await page.getByTestId("onboarding-name").fill("Juno");
      await page.getByTestId("onboarding-manner-concise").click();
      await page.getByTestId("onboarding-about").fill("I keep bees and write about them.");
    },
  },
  "onboarding-browser": { fake: "first-run", act: (page) => onboarding(page, "browser") },
  "onboarding-no-browser": {
    fake: "first-run",
    query: "&no-browsers",
    async act(page) {
      await onboarding(page, "browser");
      await page.getByTestId("onboarding-no-browser").getByRole("button").last().click();
      await page.waitForTimeout(300);
    },
  },
  "onboarding-skills": {
    fake: "first-run",
    async act(page) {
      await onboarding(page, "skills");
      await page.locator("[data-agent=claude]").waitFor();
      await page.locator("[data-skill=pdf-forms] [role=checkbox]").click();
      await page.locator("[data-skill=pdf-forms] [aria-expanded]").click();
      await page.locator("[data-skill=release-notes] [role=checkbox]").click();
    },
  },
  "onboarding-place": { fake: "first-run", act: (page) => onboarding(page, "place") },
  "onboarding-first": {
    fake: "new",
    async act(page) {
      await page.getByTestId("open-settings").click();
      await page.locator("[data-page=general]").click();
      await page.getByTestId("onboarding-restart").click();
      await onboarding(page, "place");
      await page.getByTestId("onboarding-folder").fill("/home/mei/code/harbor");
      await onboarding(page, "first");
    },
    side: true,
  },
  "settings-large": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "appearance");
      await page.getByTestId("text-size-largest").click();
      await page.getByTestId("density-roomy").click();
    },
  },
  "settings-notices": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "about");
      await page.getByTestId("notices-open").click();
      await page.getByTestId("notices-part").first().waitFor();
    },
  },
  "settings-notice": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "about");
      await page.getByTestId("notices-open").click();
      await page.getByTestId("notices-search").fill("serde");
      await page.getByTestId("notices-part").first().click();
    },
  },
  "settings-key": {
    fake: "main",
    side: true,
    act: async (page) => {
      await settingsPage(page, "shortcuts");
      await page.getByTestId("shortcut-keys-search").click();
      await page.keyboard.press("Control+k");
    },
  },
  "list-folders": {
    fake: "main",
    side: true,
    act: async (page) => {
      await page.getByTestId("session-filter").click();
      await page.getByTestId("list-order-folder").click();
      await page.keyboard.press("Escape");
      await page.getByTestId("folder-row").nth(1).click();
    },
  },
  "settings-chats": { fake: "main", side: true, query: "&chat=fine", act: (page) => settingsPage(page, "chats") },
  "settings-chat": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "chats");
      await page.getByTestId("chat-add").click();
      await page.getByTestId("chat-token").fill("1:wrong");
      await page.getByTestId("chat-test").click();
      await page.getByTestId("chat-save-anyway").waitFor();
    },
  },
  "settings-data": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "data");
      await page.getByTestId("data-part").first().waitFor();
    },
  },
  "settings-erase": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "data");
      await page.getByTestId("data-part").first().waitFor();
      await page.getByTestId("data-erase").click();
    },
  },
  "copy-dialog": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "data");
      await page.getByTestId("data-restore").click();
      await page.waitForSelector('[data-testid="copy-dialog"][open]');
    },
  },
  "settings-plan": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "data");
      await page.getByTestId("data-restore").click();
      await page.getByTestId("copy-restore").click();
      await page.getByTestId("data-plan").scrollIntoViewIfNeeded();
    },
  },
  "settings-move": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "data");
      await page.getByTestId("data-move").click();
      await page.locator('[data-testid="data-move"].primary').scrollIntoViewIfNeeded();
    },
  },
  "settings-kept": {
    fake: "main",
    query: "&kept",
    side: true,
    async act(page) {
      await settingsPage(page, "data");
      await page.getByTestId("data-former-delete").click();
      await page.locator('[data-testid="data-former-delete"].danger').scrollIntoViewIfNeeded();
    },
  },
  "settings-report": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "about");
      await page.getByTestId("report-make").click();
      await page.getByTestId("report-part-log").locator("summary").click();
    },
  },
  "settings-search": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "models");
      await page.getByTestId("settings-search").fill("trash");
      await page.getByTestId("settings-hit").first().waitFor();
    },
  },
  new: { fake: "new" },
  "start-failed": {
    fake: "start-failed",
    async act(page) {
      await page.getByTestId("damaged-replace").waitFor();
    },
  },
  "start-damaged": {
    fake: "start-failed",
    async act(page) {
      await page.getByTestId("damaged-replace").click();
      await page.waitForSelector('[data-testid="damaged-dialog"][open]');
    },
  },
  activity: { fake: "main", act: activity },
  "activity-stop": {
    fake: "main",
    side: true,
    async act(page) {
      await activity(page);
      await page.getByTestId("activity-stop-all").click();
    },
  },
  "activity-none": { fake: "main", query: "&no-activity", side: true, act: activity },
  "activity-queued": { fake: "main", query: "&queued", side: true },
  trouble: { fake: "trouble", side: true },
  compacted: { fake: "compacted" },
  "summary-open": {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("summary").click();
      await page.getByTestId("summary-body").scrollIntoViewIfNeeded();
    },
  },
  bill: {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("turn-usage").first().click();
      await page.waitForSelector('[data-testid="billed-call"]');
    },
  },
  "sessions-found": {
    fake: "long",
    side: true,
    async act(page) {
      await page.getByTestId("search").fill("question");
      await page.waitForSelector('[data-testid="search-hit"]');
    },
  },
  "sessions-filter": {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("session-filter").click();
      await page.getByTestId("session-filters").locator("select").first().selectOption("failed");
      await page.waitForTimeout(300);
    },
  },
  "sessions-many": {
    fake: "main",
    query: "&many",
    side: true,
    async act(page) {
      await page.getByTestId("session-list").evaluate((list) => (list.scrollTop = 4000));
    },
  },
  branched: {
    fake: "main",
    async act(page) {
      await page
        .getByTestId("branch-before")
        .last()
        .evaluate((button) => button.click());
      await page.waitForSelector('[data-testid="session-origin"]');
    },
  },
  "session-menu": {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("session-row").first().click({ button: "right" });
    },
  },
  "session-export": {
    fake: "main",
    async act(page) {
      await page.locator(".head .btn.icon-only").last().click();
      await page.locator(".menu-item").nth(5).click();
      await page.waitForSelector(".transfer-parts");
    },
  },
  "session-import": {
    fake: "new",
    async act(page) {
      await page.getByTestId("session-import").click();
      await page.waitForSelector('[data-testid="import-dialog"] .menu, [data-testid="import-dialog"] .select');
    },
  },
  "session-cost": {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("status-cost").click();
    },
  },
  switch: {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("status-model").click();
      await page.locator(".status .menu-item").nth(1).click();
      await page.waitForSelector('[data-testid="switch-confirm"]');
    },
  },
  effort: {
    fake: "main",
    async act(page) {
      await page.getByTestId("status-effort").click();
    },
  },
  budget: { fake: "budget" },
  background: {
    fake: "background",
    async act(page) {
      await page.getByTestId("command-ended").click();
      await page.getByTestId("status-running").click();
    },
  },
  usage: {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("open-usage").click();
      await page.waitForSelector('svg[data-testid="usage-days"]');
    },
  },
  trash: {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("open-trash").click();
      await page.getByTestId("trash-row").first().click();
      await page.getByTestId("trash-row").nth(1).getByRole("checkbox").click();
      await page.waitForSelector(".trash-text");
    },
  },
  tasks: {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.locator('[data-file="morning-issue-digest"] [data-row-open]').click();
      await page.waitForSelector('[data-testid="run"]');
    },
  },
  "tasks-runs": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.waitForSelector('[data-testid="schedule-row"]');
    },
  },
  "task-new": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.getByTestId("tasks-new").click();
      await page.getByTestId("schedule-name").fill("Weekly report");
      await page.getByTestId("schedule-weekday-saturday").click();
      await page.getByTestId("schedule-add-time").click();
      await page.waitForSelector('[data-testid="schedule-preview"][aria-busy="false"]');
    },
  },
  "task-month": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.getByTestId("tasks-new").click();
      await page.getByTestId("schedule-name").fill("Accounts");
      await page.getByTestId("schedule-kind").selectOption("monthly");
      await page.getByTestId("schedule-day-31").click();
      await page.waitForSelector('[data-testid="schedule-preview"][aria-busy="false"]');
      await page.getByTestId("schedule-zone").scrollIntoViewIfNeeded();
    },
  },
  "task-faults": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.getByTestId("tasks-new").click();
      await page.getByTestId("schedule-mode-autonomous").click();
      await page.getByTestId("schedule-budget").fill("much");
      await page.getByTestId("schedule-save").click();
      await page.getByTestId("schedule-budget").scrollIntoViewIfNeeded();
    },
  },
  "task-cron": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.locator('[data-file="cloud-bills"] [data-row-open]').click();
      await page.getByTestId("schedule-edit").click();
      await page.getByTestId("schedule-cron").fill("0 9 1-7 * 1");
      await page.waitForSelector('[data-testid="schedule-preview"][aria-busy="false"]');
    },
  },
  "task-unseen": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.locator('[data-file="clean-branches"] [data-row-open]').click();
      await page.waitForSelector('[data-testid="schedule-unseen"]');
    },
  },
  "task-broken": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.locator('[data-file="notes-of-old"] [data-row-open]').click();
      await page.waitForSelector('[data-testid="schedule-broken"]');
    },
  },
  "task-missed": {
    fake: "main",
    async act(page) {
      await open(page, "tasks");
      await page.locator('[data-file="nightly-import"] [data-row-open]').click();
      await page.waitForSelector('[data-testid="run-missed-start"]');
    },
  },
  "tasks-none": {
    fake: "main",
    query: "&no-tasks",
    async act(page) {
      await open(page, "tasks");
      await page.waitForSelector('[data-testid="tasks-example"]');
    },
  },
  skills: {
    fake: "main",
    async act(page) {
      await open(page, "skills");
      await one(page, "suggestions-open");
      await page.waitForSelector('[data-testid="suggestion-detail"] .diff');
    },
  },
  "suggestion-edit": {
    fake: "main",
    async act(page) {
      await open(page, "skills");
      await one(page, "suggestions-open");
      await page.getByTestId("suggestion-row").nth(1).click();
      await page.getByTestId("suggestion-edit").click();
    },
  },
  skill: {
    fake: "main",
    async act(page) {
      await open(page, "skills");
      await page.locator('[data-skill="release-notes"] [data-row-open]').click();
      await page.waitForSelector(".skill-preview");
    },
  },
  "skill-history": {
    fake: "main",
    async act(page) {
      await open(page, "skills");
      await page.locator('[data-skill="release-notes"] [data-row-open]').click();
      await page.getByTestId("skill-version").click();
      await page.getByTestId("skill-restore-version").scrollIntoViewIfNeeded();
    },
  },
  "skill-unseen": {
    fake: "main",
    async act(page) {
      await open(page, "skills");
      await page.locator('[data-skill="deploy-preview"] [data-row-open]').click();
      await page.waitForSelector('[data-testid="skill-untrusted"]');
    },
  },
  "skill-edit": {
    fake: "main",
    async act(page) {
      await open(page, "skills");
      await page.locator('[data-skill="release-notes"] [data-row-open]').click();
      await page.getByTestId("skill-edit").click();
      await page.getByTestId("skill-text-form-preview").click();
    },
  },
  "skill-import": {
    fake: "main",
    async act(page) {
      await open(page, "skills");
      await page.getByTestId("import-open").click();
      await page.getByTestId("import-source").fill("https://github.com/example/skills");
      await page.getByTestId("import-find").click();
      await page.waitForSelector('[data-testid="import-skill"] .diff');
    },
  },
  "skills-none": {
    fake: "main",
    query: "&no-skills",
    async act(page) {
      await open(page, "skills");
      await page.getByTestId("skill-sources-yours").click();
    },
  },
  memory: {
    fake: "main",
    async act(page) {
      await open(page, "memory");
      await page.getByTestId("memory-row").first().click();
      await page.waitForSelector(".memory-text");
    },
  },
  "memory-edit": {
    fake: "main",
    async act(page) {
      await open(page, "memory");
      await page.getByTestId("memory-row").first().click();
      await page.getByTestId("memory-edit").click();
      await page.getByTestId("memory-text").fill("- no unwrap\n".repeat(500));
    },
  },
  persona: {
    fake: "main",
    async act(page) {
      await open(page, "memory");
      await page.locator('[data-kind="soul"]').click();
      await page.waitForSelector(".memory-text");
    },
  },
  "memory-none": {
    fake: "main",
    async act(page) {
      await open(page, "memory");
      await page.getByTestId("memory-search").fill("nothing like this");
      await page.waitForSelector(".library-none");
    },
  },
  "settings-knowledge": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "knowledge");
      await page.getByTestId("library-sub-agents").fill("9");
      await page.getByTestId("library-sub-agents").press("Enter");
    },
  },
  "slash-skills": {
    fake: "main",
    async act(page) {
      await page.getByTestId("composer").fill("/re");
      await page.waitForSelector(".slash-menu .menu-item");
    },
  },
  "slash-wanted": {
    fake: "main",
    async act(page) {
      await page.getByTestId("composer").fill("/release-notes ");
      await page.waitForSelector('[data-testid="argument-hint"]');
    },
  },
  "usage-table": {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("open-usage").click();
      await page.getByTestId("usage-split-purpose").click();
      await page.getByTestId("usage-as-table").click();
    },
  },
  "usage-misses": {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("open-usage").click();
      await page.getByTestId("usage-costliest").scrollIntoViewIfNeeded();
    },
  },
  headers: {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("open-settings").click();
      await page.getByTestId("model-row").first().locator("button[aria-expanded]").click();
      await page.getByTestId("header-add").click();
      await page.getByTestId("header-name").fill("x-tenant");
      await page.getByTestId("header-value").fill("of-the-gateway");
      await page.getByTestId("header-add").click();
      await page.getByTestId("header-value").last().scrollIntoViewIfNeeded();
    },
  },
  certificates: {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("open-settings").click();
      await page.getByTestId("certificates-paste").click();
      await page.getByTestId("certificates-text").fill("no certificate");
      await page.getByTestId("certificates-save").click();
      await page.locator('[data-testid="certificates"] [role="alert"]').scrollIntoViewIfNeeded();
    },
  },
  "settings-behaviour": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "behaviour");
      await page.getByTestId("compact-at-tokens").click();
      await page.getByTestId("compact-tokens").fill("5");
      await page.getByTestId("compact-tokens").press("Enter");
    },
  },
  time: {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.locator('[data-task="5"]').click();
      await page.locator('[data-testid="time-file"][data-path$="upload/store.rs"]').click();
      await page.waitForSelector('[data-testid="comparison"] :is(.diff, .side-by-side)');
    },
  },
  "time-preview": {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.locator('[data-task="5"]').click();
      await page.getByTestId("restore-open").click();
      await page.locator('[data-testid="restore-conflict"]').first().click();
      await page.locator('[data-testid="restore-preview"] .file-open[title$="store.rs"]').click();
      await page.waitForSelector('[data-testid="comparison"] :is(.diff, .side-by-side)');
    },
  },
  "time-plan": {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.locator('[data-task="2"]').click();
      await page.getByTestId("restore-open").click();
      await page.waitForSelector(".tm-group");
    },
  },
  "time-chosen": {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.locator('[data-task="5"]').click();
      await page.getByTestId("time-file-check").nth(3).click();
      await page.getByTestId("time-file-check").nth(4).click();
      await page.locator('[data-testid="time-file"][data-path$="reset.sh"]').click();
      await page.locator(".tm-unrecorded-head").click();
    },
  },
  "time-busy": {
    fake: "main",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.waitForSelector('[data-testid="time-file"]');
    },
  },
  "time-empty": {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("session-row").last().click();
      await page.getByTestId("time-open").click();
      await page.waitForSelector('[data-testid="time"] .empty');
    },
  },
  "time-failed": {
    fake: "compacted",
    query: "&no-time",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.waitForSelector('[data-testid="time"] .error');
    },
  },
  "time-name": {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.getByTestId("name-state").click();
      await page.getByTestId("name-field").fill("before the release");
    },
  },
  "time-done": {
    fake: "compacted",
    async act(page) {
      await page.getByTestId("time-open").click();
      await page.locator('[data-task="2"]').click();
      await page.getByTestId("restore-open").click();
      await page.getByTestId("restore-confirm").click();
      await page.waitForSelector('[data-testid="toast"]');
    },
  },
  "time-tidy": {
    fake: "main",
    query: "&full",
    side: true,
    async act(page) {
      await page.getByTestId("open-settings").click();
      await page.locator(".side-list .row").nth(1).click();
      await page.getByTestId("tidy-up").click();
      await page.waitForSelector('[data-testid="tidy-forget"]');
    },
  },
  browser: { fake: "browser" },
  "browser-person": { fake: "browser-person" },
  "browser-site": { fake: "browser-site" },
  "browser-pays": { fake: "browser-pays" },
  "browser-waiting": { fake: "browser-waiting" },
  "browser-lost": { fake: "browser-lost" },
  "browser-step": {
    fake: "browser-lost",
    async act(page) {
      await page.getByTestId("step-row").nth(1).click();
      await page.waitForSelector('[data-testid="step-body"] .body-foot');
    },
  },
  "settings-browser": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "browser");
      await page.waitForSelector('[data-testid="browser-choice-chrome"]');
    },
  },
  "browser-doctor": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "browser");
      await page.getByTestId("browser-attach").click();
      await page.getByTestId("browser-run-checks").click();
      await page.waitForSelector('[data-testid="browser-check-private"]');
      await page.getByTestId("browser-copy").scrollIntoViewIfNeeded();
      await page.locator(".browser-limits").scrollIntoViewIfNeeded();
    },
  },
  attach: {
    fake: "new",
    async act(page) {
      await page.getByTestId("composer").fill("Compare these two");
      await page.getByTestId("attach").click();
      await page.waitForSelector('[data-testid="attachment"]');
    },
  },
  "first-run-tested": {
    fake: "first-run",
    query: "&no-keychain",
    async act(page) {
      await page.getByTestId("model-name").fill("claude-sonnet-4-5");
      await page.getByTestId("model-key").fill("wrong");
      await page.getByTestId("model-test").click();
      await page.waitForSelector('[data-check="fails"]');
    },
  },
  "settings-models": {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("open-settings").click();
      await page.getByTestId("model-row").first().locator("button[aria-expanded]").click();
    },
  },
  "settings-rules": {
    fake: "main",
    side: true,
    async act(page) {
      await settingsPage(page, "rules");
      await page.getByTestId("rule-text-commands").fill("ls; rm -rf build");
      await page.getByTestId("rule-add-commands").click();
      await page.getByTestId("trial-input").fill("docker run -it alpine");
      await page.getByTestId("trial-run").click();
      await page.locator('[data-outcome="refused"]').waitFor();
    },
  },
  "rules-broken": {
    fake: "main",
    query: "&broken-rules",
    side: true,
    async act(page) {
      await page.getByTestId("rules-banner").getByRole("button").click();
      await page.getByTestId("rules-error").waitFor();
    },
  },
  "rules-banner": { fake: "main", query: "&broken-rules", side: true },
  mode: {
    fake: "main",
    async act(page) {
      await page.getByTestId("status-mode").click();
    },
  },
  slash: {
    fake: "main",
    async act(page) {
      await page.getByTestId("composer").fill("/m");
    },
  },
  search: {
    fake: "main",
    side: true,
    async act(page) {
      await page.getByTestId("search").fill("part");
      await page.waitForSelector(".row.hit");
    },
  },
};

async function main() {
  const [out = "pictures", ...wanted] = process.argv.slice(2);
  const PORT = Number(process.env["PORT"] ?? 5199);

  mkdirSync(out, { recursive: true });
  const server = await createServer({ server: { port: PORT, strictPort: true }, logLevel: "error" });
  await server.listen();
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--force-device-scale-factor=1"],
  });
  let bad = 0;
  for (const [name, scene] of Object.entries(scenes)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    for (const [look, width, height, theme, language] of [
      ["light", 1280, 800, "light", "en"],
      ["dark", 1280, 800, "dark", "en"],
      ["zh-light", 1280, 800, "light", "zh"],
      ["zh-dark", 1280, 800, "dark", "zh"],
      ["small", 900, 640, "light", "en"],
      ["narrow", 480, 720, "dark", "en"],
    ]) {
      // The sidebar is closed in a narrow window.
      if (scene.side && look === "narrow") continue;
      // A scene with a fixed size looks the same in every window.
      if (scene.size && (look === "small" || look === "narrow")) continue;
      const [wide, high] = scene.size ?? [width, height];
      const page = await browser.newPage({ viewport: { width: wide, height: high }, timezoneId: "UTC" });
      const errors = [];
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error" && !message.location().url.endsWith("/favicon.ico")) errors.push(message.text());
      });
      await page.clock.install({ time: NOW });
      await page.goto(
        `http://localhost:${PORT}/?fake=${scene.fake}&fast&theme=${theme}&lang=${language}${scene.query ?? ""}`,
      );
      await page.waitForSelector("main, .wizard");
      await page.clock.runFor(600);
      await page.waitForTimeout(500);
      try {
        const act = scene.act?.(page);
        if (act) {
          const ticking = setInterval(() => void page.clock.runFor(200).catch(() => undefined), 100);
          await act.finally(() => clearInterval(ticking));
        }
        await page.clock.runFor(300);
        await page.waitForTimeout(250);
      } catch (error) {
        errors.push(String(error).split("\n")[0]);
      }
      await page.screenshot({ path: `${out}/${name}-${look}.png` });
      await page.evaluate(axe.source);
      const found = await page.evaluate(() =>
        // @ts-expect-error -- injected above
        window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] }),
      );
      for (const violation of found.violations) {
        bad += 1;
        console.log(`${name}-${look}: ${violation.id} (${violation.impact}) ${violation.nodes.length}×`);
        for (const node of violation.nodes.slice(0, 3))
          console.log(`    ${node.html.slice(0, 160)}\n    ${node.failureSummary?.split("\n")[1] ?? ""}`);
      }
      for (const error of errors) {
        bad += 1;
        console.log(`${name}-${look}: ${error}`);
      }
      await page.close();
    }
  }
  await browser.close();
  await server.close();
  console.log(`${bad} findings`);
  process.exit(bad === 0 ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
