/**
 * Exercises the built page in a real Chromium, against the replay and under the shell's content security policy:
 * streaming and following, menus, keys, queue, input methods, search and jumps, questions, onboarding. Fails when a
 * step fails, or when the page logs an error or a warning.
 *
 *   npm run try        (CHROMIUM names the browser, default /usr/bin/chromium)
 */
import { chromium } from "playwright-core";
import { build, preview } from "vite";

const outDir = "node_modules/.replay";
await build({ mode: "fake", build: { outDir, emptyOutDir: true }, logLevel: "error" });
let bad = 0;
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'";
const server = await preview({
  build: { outDir },
  preview: { port: 5200, strictPort: true, headers: { "Content-Security-Policy": policy } },
  logLevel: "error",
});
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const ctx = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const ok = (name, value, extra = "") => {
  if (!value) bad += 1;
  console.log(value ? "ok  " : "FAIL", name, extra);
};
async function open(fake, query = "") {
  const page = await ctx.newPage();
  page.on("console", (m) => {
    const unwanted = ["error", "warning"].includes(m.type()) && !m.location().url.endsWith("/favicon.ico");
    if (unwanted) ok(`console: ${m.text()}`, false);
  });
  page.on("pageerror", (e) => ok(`page error: ${e.message}`, false));
  await page.goto(`http://localhost:5200/?fake=${fake}&lang=en${query}`);
  await page.waitForSelector("main, .wizard");
  await page.waitForTimeout(400);
  return page;
}
const dist = (page) =>
  page.evaluate(() => {
    const s = document.querySelector("[data-testid=transcript]");
    return Math.round(s.scrollHeight - s.scrollTop - s.clientHeight);
  });
// 1 streaming follow
let page = await open("main");
const a = await page.locator("[data-testid=answer]").last().innerText();
await page.waitForTimeout(600);
const b = await page.locator("[data-testid=answer]").last().innerText();
ok("answer grows", b.length > a.length && b.startsWith(a), `${a.length}->${b.length}`);
ok("follows the end", (await dist(page)) < 2, await dist(page));
await page.mouse.move(700, 300);
await page.mouse.wheel(0, -400);
await page.waitForTimeout(300);
const top1 = await page.evaluate(() => document.querySelector("[data-testid=transcript]").scrollTop);
await page.waitForTimeout(500);
const top2 = await page.evaluate(() => document.querySelector("[data-testid=transcript]").scrollTop);
ok("scrolling up stops following", Math.abs(top1 - top2) < 2 && (await dist(page)) > 100, `${top1} ${top2}`);
ok(
  "new messages button",
  await page.getByTestId("scroll-to-end").isVisible(),
  await page.getByTestId("scroll-to-end").innerText(),
);
await page.getByTestId("scroll-to-end").click();
await page.waitForTimeout(200);
ok("to end", (await dist(page)) < 2);
// 2 menu
await page.getByTestId("status-mode").click();
await page.waitForTimeout(150);
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await page.waitForTimeout(200);
ok(
  "mode changed by keys",
  (await page.getByTestId("status-mode").innerText()).includes("Autonomous"),
  await page.getByTestId("status-mode").innerText(),
);
await page.getByTestId("status-mode").click();
await page.waitForTimeout(150);
await page.keyboard.press("Escape");
await page.waitForTimeout(150);
ok("Escape in a menu does not stop", await page.getByTestId("stop").isVisible());
// 3 queue
await page.getByTestId("composer").fill("also this");
await page.keyboard.press("Enter");
await page.waitForTimeout(200);
ok("queued", (await page.getByTestId("queue-row").count()) === 1);
// IME
await page.getByTestId("composer").fill("abc");
await page
  .getByTestId("composer")
  .evaluate((el) =>
    el.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true })),
  );
ok("229 does not send", (await page.getByTestId("composer").inputValue()) === "abc");
await page.getByTestId("composer").fill("");
await page.keyboard.press("ArrowUp");
await page.waitForTimeout(100);
ok(
  "recall",
  (await page.getByTestId("composer").inputValue()).startsWith("Uploads"),
  await page.getByTestId("composer").inputValue(),
);
await page.getByTestId("composer").fill("/he");
await page.keyboard.press("Enter");
await page.waitForTimeout(100);
ok(
  "slash completes",
  (await page.getByTestId("composer").inputValue()) === "/help",
  await page.getByTestId("composer").inputValue(),
);
await page.keyboard.press("Enter");
await page.waitForTimeout(200);
ok("command answered as a note", (await page.locator(".note").count()) >= 1);
await page.keyboard.press("Escape");
await page.waitForTimeout(200);
ok("Escape stops", !(await page.getByTestId("stop").isVisible()));
// link
await page.locator(".prose a").first().click();
await page.waitForTimeout(200);
ok("link asks", (await page.locator(".link-tip").innerText()).includes("https://example.org/fsync"));
await page.keyboard.press("Escape");
// code copy + highlight
ok("highlighted", (await page.locator(".code .hljs-keyword").count()) > 0);
// 4 delete + undo, rename
const rows = await page.getByTestId("session-row").count();
await page.getByTestId("session-row").nth(5).click({ button: "right" });
await page.waitForTimeout(150);
await page.locator("#session-menu .menu-item.danger").click();
await page.waitForTimeout(250);
ok("deleted", (await page.getByTestId("session-row").count()) === rows - 1);
await page.locator("[data-testid=toast] .accent").click();
await page.waitForTimeout(250);
ok("undone", (await page.getByTestId("session-row").count()) === rows);
await page.getByTestId("session-row").nth(7).click({ button: "right" });
await page.waitForTimeout(150);
await page.keyboard.press("Enter");
await page.waitForTimeout(150);
await page.keyboard.type("New title");
await page.keyboard.press("Enter");
await page.waitForTimeout(250);
ok("renamed", (await page.locator(".side-list").innerText()).includes("New title"));
// keyboard
await page.keyboard.press("Control+Shift+f");
await page.waitForTimeout(100);
ok("ctrl shift f", await page.getByTestId("search").evaluate((el) => el === document.activeElement));
await page.keyboard.type("Question 7:");
await page.waitForSelector(".row.hit");
await page.locator(".row.hit").first().click();
await page.waitForTimeout(900);
ok(
  "jumps to message",
  await page
    .locator(".t-row[data-marked]")
    .first()
    .isVisible()
    .catch(() => false),
  (
    await page
      .locator(".t-row[data-marked]")
      .first()
      .innerText()
      .catch(() => "none")
  ).slice(0, 40),
);
ok("few rows mounted", (await page.locator(".t-row").count()) < 60, await page.locator(".t-row").count());
await page.keyboard.press("Control+n");
await page.waitForTimeout(150);
ok("ctrl n", await page.getByTestId("new-folder").isVisible());
await page.getByTestId("composer").fill("draft here");
await page.keyboard.press("Control+2");
await page.waitForTimeout(300);
ok("ctrl 2 opens", await page.getByTestId("transcript").isVisible());
await page.keyboard.press("Control+,");
await page.waitForTimeout(150);
ok("ctrl ,", await page.getByTestId("settings").isVisible());
await page.close();
// 5 permission
page = await open("permission");
await page.waitForTimeout(900);
ok("focus in the composer", await page.getByTestId("composer").evaluate((el) => el === document.activeElement));
await page.keyboard.press("Enter");
await page.waitForTimeout(250);
ok("Enter on the empty composer allows once", (await page.getByTestId("question").count()) === 1);
await page.getByTestId("question-no-reason").click();
await page.keyboard.type("because n");
await page.keyboard.press("Enter");
await page.waitForTimeout(250);
ok("no with reason", (await page.getByTestId("question").count()) === 0);
await page.close();
// skills and memories
page = await open("main", "&fast");
await page.getByTestId("open-skills").click();
await page.waitForSelector('[data-testid="suggestion-detail"] .diff');
ok("suggestions are counted", (await page.getByTestId("open-skills").innerText()).includes("2"));
await page.getByTestId("suggestion-accept").click();
await page.waitForFunction(() => document.querySelectorAll("[data-testid=suggestion-row]").length === 1);
ok("an accepted suggestion is gone", true);
await page.getByTestId("skill-search").fill("preview");
await page.locator('[data-skill="deploy-preview"] [data-row-open]').focus();
await page.keyboard.press("Enter");
await page.waitForSelector('[data-testid="skill-untrusted"]');
await page.getByTestId("skill-accept").click();
await page.getByTestId("skill-use").click();
await page.waitForSelector('[data-testid="argument-hint"], [data-testid="new-folder"]');
ok(
  "a skill is used in a new session",
  (await page.getByTestId("composer").inputValue()) === "/deploy-preview ",
  await page.getByTestId("composer").inputValue(),
);
await page.getByTestId("composer").fill("/rln");
await page.waitForSelector(".slash-menu .menu-item");
ok(
  "letters find a skill",
  (await page.locator(".slash-menu .menu-item").first().innerText()).includes("/release-notes"),
);
await page.keyboard.press("Tab");
await page.waitForSelector('[data-testid="argument-hint"]');
ok("its argument is hinted at", (await page.getByTestId("argument-hint").innerText()).endsWith("tag"));
await page.getByTestId("composer").fill("");
await page.getByTestId("open-memory").click();
await page.getByTestId("memory-row").first().click();
await page.getByTestId("memory-edit").click();
await page.getByTestId("memory-text").fill("- written by hand");
await page.getByTestId("memory-text-form-preview").click();
ok("a memory is previewed", (await page.locator(".md-preview li").innerText()) === "written by hand");
await page.getByTestId("memory-save").click();
await page.waitForSelector('[data-testid="memory-delete"]');
await page.getByTestId("memory-delete").click();
await page.waitForFunction(() => document.querySelectorAll("[data-testid=memory-row]").length === 2);
await page.locator("[data-testid=toast] .accent").last().click();
await page.waitForFunction(() => document.querySelectorAll("[data-testid=memory-row]").length === 3);
ok("a deleted memory comes back", true);
await page.close();
// costs: a suggestion, a turn's usage, a model switch with its price, a used-up budget, the usage page
page = await open("compacted", "&fast");
const field = page.getByTestId("composer");
const status = (id) => page.getByTestId(id).innerText();
await page.waitForFunction(() =>
  document.querySelector("[data-testid=composer]").placeholder.startsWith("Ask the shop"),
);
ok("the suggestion is said", (await page.getByTestId("suggestion").innerText()).includes("Press Tab to accept"));
await field.focus();
await page.keyboard.type("x");
ok("typing hides it", !(await page.getByTestId("suggestion-use").isVisible()));
await page.keyboard.press("Tab");
ok("Tab in a filled field leaves it", (await field.inputValue()) === "x");
await field.fill("");
await page.keyboard.press("Tab");
ok("Tab takes it", (await field.inputValue()).startsWith("Ask the shop"), await field.inputValue());
ok("and stays in the field", await field.evaluate((el) => el === document.activeElement));
await field.fill("");
await page.keyboard.press("Escape");
ok("Escape sends it away", !(await field.getAttribute("placeholder")).startsWith("Ask the shop"));
await page.keyboard.press("Tab");
ok("then Tab moves on", !(await field.evaluate((el) => el === document.activeElement)));
await page.getByTestId("turn-usage").first().focus();
await page.keyboard.press("Enter");
await page.waitForSelector("[data-testid=billed-call]");
ok("a turn's calls", (await page.getByTestId("billed-call").count()) === 4);
ok("a miss is explained", (await status("turn-bill")).includes("were expected from the cache"));
ok("an unknown price is said", (await status("turn-bill")).includes("price unknown"));
await page.keyboard.press("Escape");
ok(
  "the focus comes back",
  await page
    .getByTestId("turn-usage")
    .first()
    .evaluate((el) => el === document.activeElement),
);
await page.getByTestId("summary").click();
ok("a summary opens", (await status("summary-body")).includes("0001.md"));
const choose = async () => {
  await page.getByTestId("status-model").click();
  await page.locator(".status .menu-item").nth(1).click();
  await page.waitForSelector("[data-testid=switch-confirm]:focus");
};
await choose();
ok("a switch has its price", (await status("switch-cost")).includes("will read 9.2k tokens again"));
await page.getByTestId("switch-cancel").click();
ok("kept", (await status("status-model")).includes("claude"));
await choose();
await page.keyboard.press("Enter");
await page.waitForTimeout(300);
ok("switched", (await status("status-model")).includes("qwen3"), await status("status-model"));
ok("no effort where a model takes none", (await page.getByTestId("status-effort").count()) === 0);
await page.close();
page = await open("budget", "&fast");
ok("a used-up budget asks", (await status("budget")).includes("$2.04 of $2.00"));
await page.getByTestId("composer").focus();
await page.keyboard.press("Enter");
ok("no key answers it by chance", await page.getByTestId("budget").isVisible());
await page.getByTestId("budget-more").click();
await page.waitForTimeout(150);
ok("answered", (await page.getByTestId("budget").count()) === 0);
await page.getByTestId("open-usage").click();
await page.waitForSelector("svg[data-testid=usage-days] rect");
const thirty = await page.locator("svg[data-testid=usage-days] g").count();
await page.getByTestId("usage-range").click();
await page.waitForSelector(".menu-item:focus");
await page.keyboard.press("Home");
await page.keyboard.press("Enter");
await page.waitForTimeout(200);
const seven = await page.locator("svg[data-testid=usage-days] g").count();
ok("days of the range", thirty === 30 && seven === 7, `${thirty} ${seven}`);
await page.getByTestId("usage-as-table").click();
ok("the chart as a table", (await page.locator("table[data-testid=usage-days] tbody tr").count()) === 7);
await page.getByTestId("open-settings").click();
await page.locator(".side-list .row").nth(2).click();
await page.getByTestId("budget-field-task").fill("nothing");
await page.keyboard.press("Enter");
ok("no amount is refused", await page.locator(".amount-hint").isVisible());
await page.getByTestId("budget-field-task").fill("1,5");
await page.keyboard.press("Enter");
await page.waitForTimeout(100);
ok("an amount is taken", (await page.getByTestId("budget-field-task").inputValue()) === "1.50");
await page.getByTestId("suggestions").click();
await page.waitForTimeout(100);
ok("switched off", (await page.getByTestId("suggestions").getAttribute("aria-checked")) === "false");
await page.close();
// 5b commands in the background
page = await open("background", "&fast");
await page.waitForSelector("[data-testid=command-ended]");
const ended = page.getByTestId("command-ended");
ok("an end is a line of its own", (await ended.innerText()).includes("exit 101"), await ended.innerText());
ok("marked as failed", (await ended.getAttribute("data-state")) === "failed");
ok("not in the person's words", (await page.getByTestId("user-message").count()) === 1);
await ended.click();
ok("its last line opens", (await page.locator(".term").last().innerText()).includes("1 failed"));
const badge = page.getByTestId("status-running");
ok("the badge counts what runs", (await badge.innerText()).includes("2 running"), await badge.innerText());
await badge.focus();
await page.keyboard.press("Enter");
await page.waitForSelector("[data-testid=running]");
ok("one row each", (await page.getByTestId("running-row").count()) === 2);
ok("what waits says so", (await page.getByTestId("running-row").nth(1).innerText()).includes("waiting for input"));
await page.getByTestId("running-stop").first().click();
await page.waitForTimeout(150);
const stopped = page.getByTestId("running-row").first();
ok("stopped", (await stopped.getAttribute("data-state")) === "killed", await stopped.innerText());
ok("the badge follows", (await badge.innerText()).includes("1 running"), await badge.innerText());
await page.keyboard.press("Escape");
await page.waitForTimeout(150);
ok("Escape closes the list", (await page.getByTestId("running").count()) === 0);
// time machine: open by keyboard, walk through, preview, restore, undo
page = await open("compacted", "&fast");
const tm = () => page.getByTestId("time");
const row = (n) => page.locator(`[data-task="${n}"]`);
const focused = (locator) => locator.evaluate((el) => el === document.activeElement);
const twice = async () => {
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
};
await page.getByTestId("composer").fill("a draft");
await page.keyboard.press("Escape");
await page.waitForTimeout(700);
await page.keyboard.press("Escape");
await page.waitForTimeout(150);
ok("Escape once, and once more later, opens nothing", (await tm().count()) === 0);
await page.getByTestId("composer").fill("");
await page.keyboard.type("/he");
await page.keyboard.press("Escape");
await page.keyboard.press("Escape");
await page.waitForTimeout(150);
ok("the Escape that closes the commands is not the first of two", (await tm().count()) === 0);
await page.getByTestId("composer").fill("a draft");
await page.waitForTimeout(700);
await twice();
await page.waitForSelector('[data-testid="time-step"]');
ok("Escape twice opens it at the task before", (await row(8).getAttribute("aria-selected")) === "true");
await page.waitForTimeout(200);
ok("the focus is in the tree", await focused(row(8)));
ok("as a tree", (await page.getByRole("treeitem").count()) === 10 && (await page.getByRole("tree").count()) === 1);
ok("the conversation is out of reach", await page.locator("main[inert]").count());
await page.keyboard.press("ArrowDown");
await page.keyboard.press("ArrowDown");
ok("down goes back in time", (await row(6).getAttribute("aria-selected")) === "true" && (await focused(row(6))));
ok("a branch is deeper", (await row(6).getAttribute("aria-level")) === "2");
await page.keyboard.press("ArrowLeft");
ok("left goes to what it went on from", await focused(row(5)));
await page.waitForSelector('[data-testid="time-file"]');
await page.keyboard.press("Enter");
ok("Enter goes on to the files", await focused(page.getByTestId("time-file").first()));
ok("a database is not compared", (await page.getByTestId("comparison").innerText()).includes("not text"));
for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowDown");
await page.waitForSelector(".side-by-side");
ok("arrows open the next file", (await page.locator(".file-row[aria-current]").innerText()).includes("store.rs"));
ok("side by side where there is room", (await page.getByTestId("comparison").getAttribute("data-form")) === "sides");
const aligned = await page.locator(".side-by-side .line-pair").evaluateAll((pairs) =>
  pairs.every((pair) => {
    const [a, b] = [...pair.children].map((half) => half.getBoundingClientRect());
    return a.top === b.top && a.height === b.height && a.right <= b.left;
  }),
);
ok("both sides of a line stand beside each other", aligned);
await page.setViewportSize({ width: 900, height: 640 });
await page.waitForSelector('[data-testid="comparison"] .diff');
ok("one column where there is not", (await page.locator(".side-by-side").count()) === 0);
await page.setViewportSize({ width: 1280, height: 800 });
await page.waitForSelector(".side-by-side");
await page.getByTestId("compare-with-present").click();
await page.waitForSelector(".side-by-side");
ok("compared with now", (await page.locator(".tm-sides").innerText()).startsWith("Now"));
ok("nothing chosen, nothing restored", await page.getByTestId("restore-chosen").isDisabled());
ok("what was not kept cannot be chosen", await page.getByTestId("time-file-check").nth(1).isDisabled());
await page.getByTestId("time-file-all").click();
ok("all that can be", (await status("restore-chosen")) === "Restore 6 files", await status("restore-chosen"));
await page.getByTestId("time-file-all").click();
await page.getByTestId("time-file-check").nth(4).click();
await page.getByTestId("restore-chosen").click();
await page.waitForSelector('[data-testid="restore-confirm"]:not(:disabled)');
ok("one file is looked at first", await page.locator("#restore-title").evaluate((el) => el === document.activeElement));
await page.keyboard.press("Escape");
ok(
  "Escape goes back to the task",
  (await page.getByTestId("restore-preview").count()) === 0 && (await tm().count()) === 1,
);
await page.getByTestId("restore-open").click();
await page.waitForSelector('[data-testid="restore-conflict"]');
const sum = () => page.locator(".tm-sum").innerText();
ok("what the person changed is kept", (await sum()).includes("2 left alone"), await sum());
ok("what is lost is said", (await status("restore-preview")).includes("over the size limit for one file"));
ok("and that it is saved first", (await status("restore-preview")).includes("saves the current files first"));
await page.getByTestId("restore-conflict").first().focus();
await page.keyboard.press("Space");
ok("unless it is chosen", (await sum()).includes("1 left alone"), await sum());
await page.getByTestId("restore-confirm").click();
await page.waitForSelector("[data-testid=toast]");
ok(
  "there, and back in the conversation",
  (await tm().count()) === 0 && (await status("toast")).includes("1 was left"),
  await status("toast"),
);
ok("the draft is where it was", (await page.getByTestId("composer").inputValue()) === "a draft");
ok("and has the focus", await focused(page.getByTestId("composer")));
await page.keyboard.press("Control+t");
await page.waitForSelector('[data-testid="time-step"]');
ok("a key opens it at the present", (await row(5).innerText()).includes("Now"), await row(5).innerText());
ok("what was left is saved", (await row(10).innerText()).includes("Saved before going back"));
await page.locator("[data-testid=toast] .accent").click();
await page.waitForFunction(() => document.querySelector('[data-task="10"]')?.innerText.includes("Now"));
ok("taken back", true);
await page.getByTestId("name-state").click();
await page.waitForSelector('[data-testid="name-field"]:focus');
ok("no name, no button", await page.getByTestId("name-save").isDisabled());
await page.keyboard.type("before lunch");
await page.keyboard.press("Enter");
await page.waitForFunction(() =>
  [...document.querySelectorAll('[data-testid="time-step"][aria-selected="true"]')].some((el) =>
    el.innerText.includes("before lunch"),
  ),
);
ok("a state is named", true);
await page.getByTestId("name-state").click();
await page.waitForSelector('[data-testid="name-field"]:focus');
await page.keyboard.press("Escape");
await page.waitForTimeout(100);
ok("Escape closes the name, not the page", (await tm().count()) === 1);
await page.keyboard.press("Control+t");
await page.waitForTimeout(150);
ok("the key closes it too", (await tm().count()) === 0);
await page.getByTestId("time-undo").first().click();
await page.waitForSelector('[data-testid="time-step"]');
ok(
  "the end of a turn leads to the state before it",
  (await page.locator('[aria-selected="true"][data-task]').count()) === 1,
);
await page.locator(".tm-space button").click();
await page.waitForSelector('[data-testid="tidy-up"]:not(:disabled)');
await page.getByTestId("tidy-up").click();
await page.waitForFunction(() => document.querySelector('[data-testid="time-space"]').innerText.includes("freed"));
ok("tidied up", (await status("time-space")).includes("740 MB freed"), await status("time-space"));
await page.close();
page = await open("main");
await page.getByTestId("time-open").click();
await page.waitForSelector('[data-testid="time-step"]');
ok("while it works nothing is restored, and it is said why", await page.getByTestId("restore-open").isDisabled());
ok("nor named", await page.getByTestId("name-state").isDisabled());
ok("with the reason", (await page.locator(".tm-busy").innerText()).includes("is working"));
await page.keyboard.press("Escape");
await page.waitForTimeout(150);
ok("Escape closes it and stops nothing", (await tm().count()) === 0 && (await page.getByTestId("stop").isVisible()));
await page.keyboard.press("Escape");
await page.keyboard.press("Escape");
await page.waitForTimeout(200);
ok(
  "Escape that stops is not the first of two",
  !(await page.getByTestId("stop").isVisible()) && (await tm().count()) === 0,
);
await page.close();
// 6 first run
page = await open("first-run");
ok("a provider is chosen", (await page.getByTestId("model-url").inputValue()).includes("anthropic"));
await page.getByTestId("model-provider-find").fill("glm");
await page.keyboard.press("Enter");
ok("the provider that was found is taken", (await page.getByTestId("model-url").inputValue()).includes("z.ai"));
await page.getByTestId("model-place").selectOption({ index: 1 });
ok("its other place too", (await page.getByTestId("model-url").inputValue()).includes("bigmodel.cn"));
await page.getByTestId("model-provider-find").fill("");
await page.getByTestId("model-find-local").click();
await page.getByTestId("model-local-ollama").click();
ok("a server of this machine is one click", (await page.getByTestId("model-url").inputValue()).includes("11434"));
await page.getByTestId("model-name").press("ArrowDown");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
ok(
  "a model is chosen by keys",
  (await page.getByTestId("model-name").inputValue()) === "gpt-oss:20b",
  await page.getByTestId("model-name").inputValue(),
);
await page.getByTestId("model-provider-custom").click();
await page.getByTestId("model-protocol-openai-chat").click();
await page.getByTestId("model-url").fill("https://host.example/v1");
await page.getByTestId("model-name").fill("m");
await page.getByTestId("model-key").fill("sk-1234");
await page.getByTestId("model-test").click();
await page.waitForSelector("[data-step=persona]");
await page.getByTestId("onboarding-name").fill("Juno");
await page.getByTestId("onboarding-step-skills").click();
await page.waitForSelector("[data-agent=claude]");
await page.getByTestId("onboarding-step-persona").click();
ok("answers are there when one comes back", (await page.getByTestId("onboarding-name").inputValue()) === "Juno");
await page.getByTestId("onboarding-skip-rest").click();
await page.waitForSelector("[data-testid=new-folder]");
await page.getByTestId("composer").fill("hello");
await page.getByTestId("send").click();
await page.waitForTimeout(150);
ok(
  "asks for the folder and keeps the message",
  (await page.getByTestId("composer").inputValue()) === "hello" && (await page.locator(".start-hint").isVisible()),
);
await page.getByTestId("new-folder").fill("/tmp/p");
await page.getByTestId("send").click();
await page.waitForSelector("[data-testid=user-message]");
ok("started", true);
await page.close();
// 7 long: speed
const t0 = Date.now();
page = await open("long", "&fast");
await page.waitForSelector(".turn-end");
console.log("long open ms", Date.now() - t0);
ok("at the end", (await dist(page)) < 2, await dist(page));
await page.mouse.move(700, 300);
for (let i = 0; i < 30; i++) {
  await page.mouse.wheel(0, -1500);
  await page.waitForTimeout(30);
}
ok("rows stay few", (await page.locator(".t-row").count()) < 60, await page.locator(".t-row").count());
await page.close();
// 8 trash: ten thousand entries, search, keys, conflicts, permanent deletion
page = await open("main", "&fast&trash=10000");
await page.getByTestId("open-trash").click();
await page.waitForSelector("[data-testid=trash-row]");
ok(
  "totals",
  (await page.locator(".head").innerText()).includes("10,000 items"),
  await page.locator(".head").innerText(),
);
const trashRows = page.getByTestId("trash-row");
ok("few trashRows of many", (await trashRows.count()) < 60, await trashRows.count());
await page.mouse.move(500, 400);
for (let i = 0; i < 20; i++) {
  await page.mouse.wheel(0, 3000);
  await page.waitForTimeout(30);
}
ok(
  "still few far down",
  (await trashRows.count()) < 60 && (await trashRows.first().innerText()) !== "",
  await trashRows.count(),
);
await page.getByTestId("trash-search").fill("retry");
await page.waitForTimeout(400);
ok("search", (await trashRows.count()) === 1 && (await trashRows.first().innerText()).includes("retry_old.rs"));
await trashRows.first().focus();
await page.waitForSelector(".trash-text");
ok("preview", (await page.locator(".trash-text").innerText()).includes("resume_all"));
await page.keyboard.press("Enter");
await page.waitForSelector("[data-testid=trash-dialog][open]");
ok(
  "a taken place asks, focus on leaving it",
  (await page.evaluate(() => document.activeElement?.textContent)) === "Cancel",
);
await page.getByTestId("trash-keep-both").click();
await page.waitForTimeout(300);
ok("restored", (await trashRows.count()) === 0);
await page.getByTestId("trash-search").fill("");
await page.waitForTimeout(400);
await trashRows.first().focus();
await page.keyboard.press(" ");
await page.keyboard.press("ArrowDown");
await page.keyboard.press(" ");
ok("keys choose", (await page.locator(".trash-actions").innerText()).includes("2 selected"));
await page.keyboard.press("Delete");
await page.waitForSelector("[data-testid=trash-dialog][open]");
ok("asks with a count", (await page.getByTestId("trash-dialog").innerText()).includes("Permanently delete 2 items?"));
await page.keyboard.press("Escape");
await page.getByTestId("trash-delete").click();
await page.getByTestId("trash-confirm").click();
await page.waitForTimeout(300);
ok("gone", (await page.locator(".head").innerText()).includes("9,997 items"), await page.locator(".head").innerText());
await page.getByTestId("trash-kind-session").click();
await page.waitForTimeout(300);
ok("sessions only", (await trashRows.count()) <= 1);
await page.close();
// sessions: ten thousand of them, filters, branches, files
const sessionsPage = await open("main", "&many");
const sessionRows = sessionsPage.getByTestId("session-row");
const sideList = sessionsPage.getByTestId("session-list");
ok("rows in view alone", (await sessionRows.count()) < 80, await sessionRows.count());
for (let round = 0; round < 6; round += 1) {
  await sideList.evaluate((list) => (list.scrollTop = list.scrollHeight));
  await sessionsPage.waitForTimeout(200);
}
ok("rows stay bounded", (await sessionRows.count()) < 80, await sessionRows.count());
ok("further pages come", (await sideList.evaluate((list) => list.scrollHeight)) > 28 * 600);
await sessionsPage.getByTestId("search").fill("number 9999");
await sessionsPage.waitForTimeout(400);
ok(
  "an old one is found",
  (await sessionRows.count()) === 1 && (await sessionRows.first().innerText()).includes("9999"),
);
await sessionsPage.keyboard.press("Escape");
await sessionsPage.getByTestId("session-filter").click();
await sessionsPage.getByTestId("session-filters").locator("select").first().selectOption("waiting");
await sessionsPage.waitForTimeout(400);
ok(
  "filter",
  (await sessionRows.count()) > 0 && (await sessionsPage.locator(".side-list .row:not([data-asks])").count()) === 0,
);
await sessionsPage.getByTestId("session-filters-clear").click();
await sessionsPage.keyboard.press("Escape");
await sessionsPage
  .getByTestId("branch-before")
  .last()
  .evaluate((button) => button.click());
await sessionsPage.waitForSelector('[data-testid="session-origin"]');
ok("branch waits with its message", (await sessionsPage.getByTestId("composer").inputValue()).length > 0);
await sessionsPage.getByTestId("session-origin").click();
await sessionsPage.waitForTimeout(300);
ok("the way back", (await sessionsPage.getByTestId("session-origin").count()) === 0);
await sessionsPage.locator(".head .btn.icon-only").last().click();
await sessionsPage.locator(".menu-item").nth(5).click();
await sessionsPage.waitForSelector(".transfer-parts");
ok("contents are listed first", (await sessionsPage.locator(".transfer-parts dt").count()) > 3);
await sessionsPage.getByTestId("export-choose-folder").click();
await sessionsPage.waitForTimeout(300);
ok(
  "exported",
  (await sessionsPage.locator("dialog[open]").count()) === 0 &&
    (await sessionsPage.locator(".toasts").innerText()).length > 0,
);
await sessionsPage.close();
await browser.close();
await server.close();
console.log(`${bad} failures`);
process.exit(bad === 0 ? 0 : 1);
