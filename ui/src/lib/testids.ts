import { settingsIds } from "./testids-settings";

/**
 * The `data-testid` of everything the end-to-end tests and scripts touch, in one place.
 *
 * Rows carry a second attribute that identifies them: `data-session`, `data-step`, `data-question`.
 */
export const testids = {
  // composer
  composer: "composer",
  send: "send",
  stop: "stop",
  attach: "attach",
  attachment: "attachment",
  suggestion: "suggestion",
  suggestionUse: "suggestion-use",
  subAgent: "sub-agent",
  subAgentStop: "sub-agent-stop",
  subAgentOpen: "sub-agent-open",
  argumentHint: "argument-hint",
  // sidebar
  sessionRow: "session-row",
  sessionMarks: "session-marks", // who started it, and its profile
  newSession: "new-session",
  search: "search",
  searchHit: "search-hit",
  sessionList: "session-list",
  filter: "session-filter",
  filters: "session-filters",
  filterFolder: "session-filter-folder",
  filtersClear: "session-filters-clear",
  branchBefore: "branch-before", // before a message of the person
  branchWithin: "branch-within",
  branchAfter: "branch-after", // after an answer
  sessionOrigin: "session-origin",
  exportDialog: "export-dialog",
  exportFormat: "export-format",
  exportChooseFolder: "export-choose-folder",
  sessionImport: "session-import",
  importDialog: "import-dialog",
  importStart: "import-start",
  openSettings: "open-settings",
  openSkills: "open-skills",
  openMemory: "open-memory",
  openTasks: "open-tasks",
  // transcript
  transcript: "transcript",
  userMessage: "user-message",
  answer: "answer",
  stepGroup: "step-group", // the head of a card with several steps
  stepRow: "step-row",
  stepBody: "step-body",
  settingsOffer: "settings-offer",
  settingProposal: "setting-proposal",
  settingProposalApply: "setting-proposal-apply",
  settingProposalDismiss: "setting-proposal-dismiss",
  reasoning: "reasoning",
  turnEnd: "turn-end",
  turnError: "turn-error",
  retry: "retry",
  scrollToEnd: "scroll-to-end",
  trouble: "trouble",
  turnUsage: "turn-usage",
  turnBill: "turn-bill",
  billedCall: "billed-call",
  commandEnded: "command-ended",
  summary: "summary",
  summaryBody: "summary-body",
  newSkills: "new-skills", // new skills, folded
  announcer: "announcer", // answers for a screen reader
  // questions
  question: "question",
  questionOnce: "question-once",
  questionSession: "question-session",
  questionAlways: "question-always",
  questionNo: "question-no",
  questionNoReason: "question-no-reason",
  questionReason: "question-reason",
  questionReasonSend: "question-reason-send",
  feedback: "feedback",
  feedbackOption: "feedback-option",
  feedbackText: "feedback-text",
  feedbackSend: "feedback-send",
  questionPage: "question-page", // the part of a page a question is about
  // the browser in a session
  live: "live", // who controls the page: data-hand
  liveSite: "live-site",
  livePicture: "live-picture", // which one is shown: data-picture
  liveMark: "live-mark",
  liveStep: "live-step", // its status: data-phase
  liveHandover: "live-handover", // takes over and hands back
  liveStop: "live-stop",
  liveToggle: "live-toggle",
  turnProgress: "turn-progress", // the progress of a turn
  browserWaiting: "browser-waiting",
  browserCancel: "browser-cancel",
  browserLost: "browser-lost",
  browserAttach: "browser-attach",
  statusBrowser: "status-browser",
  // a used-up budget
  budget: "budget",
  budgetMore: "budget-more",
  budgetNoLimit: "budget-no-limit",
  budgetStop: "budget-stop",
  // plan and queue
  plan: "plan",
  queue: "queue",
  queueRow: "queue-row",
  // status bar
  statusMode: "status-mode",
  statusModel: "status-model",
  statusFolder: "status-folder",
  statusEffort: "status-effort",
  statusCost: "status-cost",
  statusRunning: "status-running",
  running: "running",
  runningRow: "running-row",
  runningStop: "running-stop",
  switchCost: "switch-cost",
  switchConfirm: "switch-confirm",
  switchCancel: "switch-cancel",
  // first run and the model form
  welcome: "welcome",
  modelProtocol: "model-protocol", // of a custom server; its parts: model-protocol-anthropic, model-protocol-openai-chat, …
  modelProvider: "model-provider", // its parts: model-provider-anthropic, model-provider-custom, …
  modelProviderFind: "model-provider-find",
  modelLocal: "model-local", // its parts: model-local-ollama, …
  modelFindLocal: "model-find-local",
  modelPlace: "model-place",
  modelNamesLoad: "model-names-load",
  modelUrl: "model-url",
  modelName: "model-name",
  modelKey: "model-key",
  modelTest: "model-test",
  modelSave: "model-save",
  modelRemove: "model-remove",
  modelResult: "model-result",
  startDemo: "start-demo",
  // the first run
  onboardingStep: "onboarding-step", // its parts: onboarding-step-language, onboarding-step-model, …
  onboardingNext: "onboarding-next",
  onboardingBack: "onboarding-back",
  onboardingSkipRest: "onboarding-skip-rest", // skips the rest
  onboardingSkip: "onboarding-skip",
  onboardingName: "onboarding-name",
  onboardingManner: "onboarding-manner", // its parts: onboarding-manner-friendly, …
  onboardingOwnManner: "onboarding-own-manner",
  onboardingAbout: "onboarding-about",
  onboardingFile: "onboarding-file", // its parts: onboarding-file-soul, onboarding-file-user
  onboardingSave: "onboarding-save",
  onboardingNoBrowser: "onboarding-no-browser",
  onboardingFolder: "onboarding-folder",
  onboardingTry: "onboarding-try", // its parts: onboarding-try-explain, …
  onboardingRestart: "onboarding-restart",
  otherFolder: "other-folder",
  otherSource: "other-source", // whose: data-agent
  otherAll: "other-all",
  otherSkill: "other-skill", // data-skill
  otherConflict: "other-conflict", // its parts: other-conflict-keep, other-conflict-rename, other-conflict-replace
  otherImport: "other-import",
  // new session
  newFolder: "new-folder",
  newFolderPick: "new-folder-pick",
  profile: "profile", // its parts: profile-general, profile-coding
  ...settingsIds,
  // usage
  openUsage: "open-usage",
  usage: "usage",
  usageRange: "usage-range",
  usageMeasure: "usage-measure", // its parts: usage-measure-cost, usage-measure-tokens, usage-measure-calls
  usageSplit: "usage-split", // its parts: usage-split-model, usage-split-purpose
  usageAsTable: "usage-as-table",
  usageDays: "usage-days",
  usageModels: "usage-models",
  usagePurposes: "usage-purposes",
  usageHits: "usage-hits",
  usageMisses: "usage-misses",
  usageCostliest: "usage-costliest",
  usageAboveIdeal: "usage-above-ideal",
  usageCopy: "usage-copy",
  // time machine
  timeOpen: "time-open",
  timeUndo: "time-undo", // at the end of a turn
  time: "time",
  timeClose: "time-close",
  timeStep: "time-step", // data-task
  timeFile: "time-file", // data-path
  timeFileCheck: "time-file-check",
  timeFileAll: "time-file-all",
  irreversibleEffects: "irreversible-effects", // the effects of a turn that cannot be undone
  compareWith: "compare-with", // its parts: compare-with-before, compare-with-present
  comparison: "comparison",
  restoreScope: "restore-scope", // its parts: restore-scope-both, restore-scope-files, restore-scope-conversation
  restoreChosen: "restore-chosen",
  restoreOpen: "restore-open",
  restorePreview: "restore-preview",
  restoreConflict: "restore-conflict", // data-path
  restoreConfirm: "restore-confirm",
  restoreCancel: "restore-cancel",
  nameState: "name-state",
  nameField: "name-field",
  nameSave: "name-save",
  timeSpace: "time-space",
  tidyUp: "tidy-up",
  tidyForget: "tidy-forget",
  // trash
  openTrash: "open-trash",
  trash: "trash",
  trashSearch: "trash-search",
  trashKind: "trash-kind",
  trashProject: "trash-project",
  trashRow: "trash-row",
  trashPreview: "trash-preview",
  trashLimits: "trash-limits",
  trashEmpty: "trash-empty",
  trashDelete: "trash-delete",
  trashRestore: "trash-restore",
  trashRestoreTo: "trash-restore-to",
  trashDialog: "trash-dialog",
  trashConfirm: "trash-confirm",
  trashReplace: "trash-replace",
  trashElsewhere: "trash-elsewhere",
  trashKeepBoth: "trash-keep-both",
  trashDays: "trash-days",
  trashSize: "trash-size",
  // activity
  openActivity: "open-activity",
  activity: "activity",
  activitySlots: "activity-slots",
  activityAnnouncer: "activity-announcer",
  activityRow: "activity-row", // its kind: data-kind; its status: data-status
  activityOpen: "activity-open",
  activityStop: "activity-stop",
  activityStopAll: "activity-stop-all",
  activityDialog: "activity-dialog",
  activityConfirm: "activity-confirm",
  activityEmpty: "activity-empty",
  liveTurns: "live-turns",
  // scheduled tasks; those of the time machine are above
  tasks: "tasks",
  tasksNew: "tasks-new",
  tasksDescribe: "tasks-describe",
  tasksExample: "tasks-example",
  scheduleRow: "schedule-row", // data-file; its status: data-mark
  schedule: "schedule", // the one that is shown: data-file
  scheduleRun: "schedule-run",
  scheduleSwitch: "schedule-switch", // pauses and resumes
  scheduleEdit: "schedule-edit",
  scheduleMore: "schedule-more",
  scheduleBroken: "schedule-broken",
  scheduleReveal: "schedule-reveal",
  scheduleUnseen: "schedule-unseen",
  scheduleAccept: "schedule-accept",
  runs: "runs",
  run: "run", // data-run; its status: data-status
  runSession: "run-session",
  runStop: "run-stop",
  runMissedStart: "run-missed-start", // runs a missed one
  runMissedSkip: "run-missed-skip",
  runsMore: "runs-more",
  scheduleForm: "schedule-form",
  scheduleError: "schedule-error", // its field: data-field
  scheduleWarning: "schedule-warning",
  scheduleConflict: "schedule-conflict",
  scheduleKeepMine: "schedule-keep-mine",
  scheduleTakeTheirs: "schedule-take-theirs",
  scheduleName: "schedule-name",
  schedulePrompt: "schedule-prompt",
  scheduleKind: "schedule-kind",
  scheduleDate: "schedule-date",
  scheduleTime: "schedule-time",
  scheduleAddTime: "schedule-add-time",
  scheduleCount: "schedule-count",
  scheduleUnit: "schedule-unit",
  scheduleFrom: "schedule-from",
  scheduleUntil: "schedule-until",
  scheduleWeekday: "schedule-weekday", // its parts: schedule-weekday-monday, …
  scheduleDay: "schedule-day", // its parts: schedule-day-1, …
  scheduleCron: "schedule-cron",
  scheduleZone: "schedule-zone",
  schedulePreview: "schedule-preview",
  scheduleFolder: "schedule-folder",
  scheduleModel: "schedule-model",
  scheduleProfile: "schedule-profile",
  scheduleMode: "schedule-mode", // its parts: schedule-mode-ask, …
  scheduleBudget: "schedule-budget",
  scheduleMinutes: "schedule-minutes",
  scheduleRetries: "schedule-retries",
  scheduleMissed: "schedule-missed", // its parts: schedule-missed-skip, …
  scheduleNotifications: "schedule-notifications", // its parts: schedule-notifications-all, …
  scheduleDiscard: "schedule-discard",
  scheduleSave: "schedule-save",
  // skills
  skills: "skills",
  skillSearch: "skill-search",
  skillSources: "skill-sources", // its parts: skill-sources-all, skill-sources-yours, skill-sources-folder, skill-sources-bundled
  skillFolder: "skill-folder",
  skillPropose: "skill-propose",
  skillNew: "skill-new",
  skillRow: "skill-row", // data-skill, data-origin
  skillOn: "skill-on",
  skillAutomatic: "skill-automatic",
  skillDetail: "skill-detail",
  skillUntrusted: "skill-untrusted", // it is from a project folder and not accepted
  skillAccept: "skill-accept",
  skillUse: "skill-use",
  skillExport: "skill-export",
  skillDelete: "skill-delete",
  skillView: "skill-view", // its parts: skill-view-preview, skill-view-text
  skillSource: "skill-source", // the text of SKILL.md
  skillEdit: "skill-edit",
  skillEditDiscard: "skill-edit-discard",
  skillText: "skill-text",
  skillSave: "skill-save",
  skillConflict: "skill-conflict",
  skillVersion: "skill-version",
  skillVersionView: "skill-version-view", // its parts: skill-version-view-difference, skill-version-view-text
  skillRestoreVersion: "skill-restore-version",
  suggestionsOpen: "suggestions-open", // in narrow windows
  suggestionRow: "suggestion-row",
  suggestionDetail: "suggestion-detail",
  suggestionText: "suggestion-text",
  suggestionAccept: "suggestion-accept",
  suggestionEdit: "suggestion-edit",
  suggestionDiscard: "suggestion-discard",
  suggestionNever: "suggestion-never",
  importOpen: "import-open",
  skillImport: "skill-import",
  importSource: "import-source",
  importFind: "import-find",
  importFolder: "import-folder",
  importArchive: "import-archive",
  importSkill: "import-skill", // data-skill
  importInstall: "import-install",
  // memories
  memory: "memory",
  memorySearch: "memory-search",
  memoryRemember: "memory-remember",
  memoryNew: "memory-new",
  memoryRow: "memory-row", // data-file
  memoryDetail: "memory-detail",
  memoryEdit: "memory-edit",
  memoryTopic: "memory-topic",
  memoryDescription: "memory-description",
  memoryText: "memory-text",
  memorySave: "memory-save",
  memoryDiscard: "memory-discard",
  memoryDelete: "memory-delete",
  memoryConflict: "memory-conflict",
  memoryKeepMine: "memory-keep-mine",
  memoryTakeTheirs: "memory-take-theirs",
  personaRow: "persona-row", // data-kind
  personaDetail: "persona-detail",
  personaEdit: "persona-edit",
  personaText: "persona-text",
  personaSave: "persona-save",
  personaReset: "persona-reset",
  libraryPropose: "library-propose",
  libraryOtherAgents: "library-other-agents",
  libraryRemember: "library-remember",
  librarySubAgents: "library-sub-agents",
  // palette and shortcuts
  palette: "palette",
  paletteInput: "palette-input",
  paletteChoice: "palette-choice", // data-choice
  shortcuts: "shortcuts",
  // the system
  closing: "closing",
  closingHide: "closing-hide",
  closingQuit: "closing-quit",
  quickAsk: "quick-ask",
  quickText: "quick-text",
  newForeignText: "new-foreign-text",
  newTitle: "new-title",
  updateCheck: "update-check",
  updateAutomatic: "update-automatic",
  updateOffer: "update-offer",
  updateInstall: "update-install",
  updateDownload: "update-download",
  updateCancel: "update-cancel",
  // error and start screens
  startFailure: "start-failure",
  startRetry: "start-retry",
  damagedReplace: "damaged-replace",
  damagedDialog: "damaged-dialog",
  damagedConfirm: "damaged-confirm",
  toast: "toast",
} as const;
