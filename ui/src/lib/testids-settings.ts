/** The `data-testid` values of the settings; `testids.ts` includes them. */
export const settingsIds = {
  settings: "settings",
  settingsPage: "settings-page", // data-page
  settingsBack: "settings-back",
  settingsSearch: "settings-search",
  settingsHit: "settings-hit",
  textSize: "text-size", // its parts: text-size-usual, text-size-large, text-size-largest
  shortcutKeys: "shortcut-keys", // shortcut-keys-palette
  shortcutReset: "shortcut-reset",
  listOrder: "list-order", // its parts: list-order-time, list-order-folder
  folderRow: "folder-row",
  runsRow: "runs-row",
  runsMarkRead: "runs-mark-read",
  folderMore: "folder-more",
  tasksOff: "tasks-off",
  tasksScheduled: "tasks-scheduled",
  tasksMissed: "tasks-missed", // its parts: tasks-missed-skip, …
  tasksNotifications: "tasks-notifications", // its parts: tasks-notifications-all, …
  zoom: "zoom", // its parts: zoom-75, zoom-100 … zoom-200
  density: "density", // its parts: density-compact, density-roomy
  notification: "notification", // its parts: notification-finished, …
  dataPart: "data-part", // data-part
  dataReveal: "data-reveal",
  dataBackUp: "data-back-up",
  dataCopied: "data-copied",
  dataErase: "data-erase",
  dataRestore: "data-restore",
  dataMove: "data-move",
  dataPlan: "data-plan", // which: data-plan
  dataPlanCancel: "data-plan-cancel",
  dataRestart: "data-restart",
  dataFormer: "data-former", // data-path
  dataFormerDelete: "data-former-delete",
  notices: "notices",
  noticesOpen: "notices-open",
  noticesBack: "notices-back",
  noticesSearch: "notices-search",
  noticesPart: "notices-part",
  noticesText: "notices-text",
  copyDialog: "copy-dialog",
  copyRestore: "copy-restore",
  eraseDialog: "erase-dialog",
  eraseWord: "erase-word",
  eraseConfirm: "erase-confirm",
  erased: "erased",
  reportMake: "report-make",
  reportPart: "report-part", // its parts: report-part-system, …
  reportSave: "report-save",
  reportSaved: "report-saved",
  modelRow: "model-row",
  addModel: "add-model",
  speedTest: "speed-test",
  modelTestCard: "model-test-card",
  modelLight: "model-light",
  modelFallback: "model-fallback",
  proxy: "proxy", // its parts: proxy-system, proxy-none, proxy-manual
  chatAdd: "chat-add",
  chatEdit: "chat-edit",
  chatCode: "chat-code",
  chatFolder: "chat-folder",
  chatMode: "chat-mode",
  chatOn: "chat-on",
  chatPair: "chat-pair",
  chatPerson: "chat-person",
  chatRemove: "chat-remove",
  chatSave: "chat-save",
  chatSaveAnyway: "chat-save-anyway",
  chatServer: "chat-server",
  chatStatus: "chat-status",
  chatTest: "chat-test",
  chatToken: "chat-token",
  searchProvider: "search-provider",
  searchAdd: "search-add",
  searchValue: "search-value",
  searchSave: "search-save",
  proxyAddress: "proxy-address",
  proxyTest: "proxy-test",
  headerAdd: "header-add",
  headerName: "header-name",
  headerValue: "header-value",
  companionOffer: "companion-offer",
  companionUse: "companion-use",
  certificates: "certificates",
  certificatesPaste: "certificates-paste",
  certificatesText: "certificates-text",
  certificatesSave: "certificates-save",
  language: "language", // its parts: language-system, language-en, language-zh
  theme: "theme", // its parts: theme-system, theme-light, theme-dark
  defaultMode: "default-mode", // its parts: default-mode-ask, default-mode-ask_risky, default-mode-autonomous
  compactAt: "compact-at", // its parts: compact-at-usual, compact-at-tokens
  compactTokens: "compact-tokens",
  keepWarm: "keep-warm",
  suggestions: "suggestions",
  showUndone: "show-undone",
  confinement: "confinement",
  commandNetwork: "command-network",
  budgetField: "budget-field", // its parts: budget-field-task, budget-field-session, budget-field-day
  // the person's own rules
  rules: "rules",
  rulesBanner: "rules-banner",
  rulesError: "rules-error",
  rulesFile: "rules-file",
  ruleRow: "rule-row", // data-list, data-rule
  ruleText: "rule-text", // its parts: rule-text-commands, rule-text-paths
  ruleList: "rule-list", // its parts: rule-list-allow, rule-list-deny, …
  ruleAdd: "rule-add", // its parts: rule-add-commands, rule-add-paths
  ruleRefused: "rule-refused",
  grantRow: "grant-row",
  trialInput: "trial-input",
  trialRun: "trial-run",
  trialOutcome: "trial-outcome",
  // settings of the browser
  browserState: "browser-state", // data-state
  browserDetach: "browser-detach",
  browserExposed: "browser-exposed",
  browserChoice: "browser-choice", // its parts: browser-choice-automatic, browser-choice-chrome, browser-choice-folder, browser-choice-own, browser-choice-off
  browserRefresh: "browser-refresh",
  browserAddress: "browser-address",
  browserCopy: "browser-copy",
  browserRunChecks: "browser-run-checks",
  browserCheck: "browser-check", // its parts: browser-check-installed, …; result: data-result
  browserRepair: "browser-repair",
  browserSite: "browser-site", // data-site
  browserForget: "browser-forget",
  desktopClosing: "desktop-closing",
  desktopQuickAsk: "desktop-quick-ask",
  desktopAutostart: "desktop-autostart",
  siteSecret: "site-secret", // data-name
  siteSecretForget: "site-secret-forget",
  siteSecretAdd: "site-secret-add",
  siteSecretName: "site-secret-name",
  siteSecretSite: "site-secret-site",
  siteSecretValue: "site-secret-value",
  siteSecretSave: "site-secret-save",
} as const;
