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
  suggestionTake: "suggestion-take",
  subAgent: "sub-agent",
  subAgentStop: "sub-agent-stop",
  subAgentOpen: "sub-agent-open",
  argumentHint: "argument-hint",
  // sidebar
  sessionRow: "session-row",
  sessionMarks: "session-marks", // who began it, and its profile
  newSession: "new-session",
  search: "search",
  searchHit: "search-hit",
  sessionList: "session-list",
  filter: "session-filter",
  filters: "session-filters",
  filterFolder: "session-filter-folder",
  filtersClear: "session-filters-clear",
  branchHere: "branch-here", // before a message of the person
  branchBetween: "branch-between",
  branchAnswer: "branch-answer", // after an answer
  sessionOrigin: "session-origin",
  exportDialog: "export-dialog",
  exportForm: "export-form",
  exportPick: "export-pick",
  sessionImport: "session-import",
  importDialog: "import-dialog",
  importGo: "import-go",
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
  proposed: "proposed",
  proposedSet: "proposed-set",
  proposedLeave: "proposed-leave",
  reasoning: "reasoning",
  turnEnd: "turn-end",
  turnError: "turn-error",
  retry: "retry",
  toEnd: "to-end",
  trouble: "trouble",
  turnUsage: "turn-usage",
  turnBill: "turn-bill",
  billedCall: "billed-call",
  commandEnded: "command-ended",
  summary: "summary",
  summaryBody: "summary-body",
  skillFold: "skill-fold", // skills that came meanwhile, folded
  spoken: "spoken", // answers for a screen reader
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
  questionPage: "question-page", // what of a page a question is about
  // the browser in a session
  live: "live", // who works there: data-hand
  liveSite: "live-site",
  livePicture: "live-picture", // which one is shown: data-picture
  liveMark: "live-mark",
  liveStep: "live-step", // how it stands: data-phase
  liveHand: "live-hand", // takes over and hands back
  liveStop: "live-stop",
  liveFold: "live-fold",
  working: "working", // the line of what a turn is at
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
  switchDo: "switch-do",
  switchKeep: "switch-keep",
  // first run and the model form
  welcome: "welcome",
  modelProtocol: "model-protocol", // of a custom server; its parts: model-protocol-anthropic, model-protocol-openai-chat, …
  modelProvider: "model-provider", // its parts: model-provider-anthropic, model-provider-custom, …
  modelProviderFind: "model-provider-find",
  modelLocal: "model-local", // its parts: model-local-ollama, …
  modelLook: "model-look",
  modelPlace: "model-place",
  modelNamesAsk: "model-names-ask",
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
  onboardingFinish: "onboarding-finish", // skips the rest
  onboardingLeave: "onboarding-leave",
  onboardingName: "onboarding-name",
  onboardingManner: "onboarding-manner", // its parts: onboarding-manner-friendly, …
  onboardingOwn: "onboarding-own",
  onboardingAbout: "onboarding-about",
  onboardingFile: "onboarding-file", // its parts: onboarding-file-soul, onboarding-file-user
  onboardingSave: "onboarding-save",
  onboardingNoBrowser: "onboarding-no-browser",
  onboardingFolder: "onboarding-folder",
  onboardingTry: "onboarding-try", // its parts: onboarding-try-explain, …
  onboardingAgain: "onboarding-again",
  otherFolder: "other-folder",
  otherSource: "other-source", // whose: data-agent
  otherAll: "other-all",
  otherSkill: "other-skill", // which one: data-skill
  otherTaken: "other-taken", // its parts: other-taken-keep, other-taken-rename, other-taken-replace
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
  usageDearest: "usage-dearest",
  usageAbove: "usage-above",
  usageCopy: "usage-copy",
  // time machine
  timeOpen: "time-open",
  timeUndo: "time-undo", // at the end of a turn
  time: "time",
  timeClose: "time-close",
  taskRow: "task-row", // which one: data-task
  taskFile: "task-file", // which one: data-path
  taskFileCheck: "task-file-check",
  taskFileAll: "task-file-all",
  lasting: "lasting", // what a task did that no undo takes back
  compareWith: "compare-with", // its parts: compare-with-before, compare-with-present
  comparison: "comparison",
  restoreScope: "restore-scope", // its parts: restore-scope-both, restore-scope-files, restore-scope-conversation
  restoreChosen: "restore-chosen",
  restoreGo: "restore-go",
  restorePreview: "restore-preview",
  restoreConflict: "restore-conflict", // which one: data-path
  restoreDo: "restore-do",
  restoreLeave: "restore-leave",
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
  activityPlaces: "activity-places",
  activitySpoken: "activity-spoken",
  activityRow: "activity-row", // of which kind: data-kind; how it stands: data-status
  activityOpen: "activity-open",
  activityStop: "activity-stop",
  activityStopAll: "activity-stop-all",
  activityDialog: "activity-dialog",
  activityConfirm: "activity-confirm",
  activityNone: "activity-none",
  liveTurns: "live-turns",
  // scheduled tasks; those of the time machine are above
  tasks: "tasks",
  tasksNew: "tasks-new",
  tasksDescribe: "tasks-describe",
  tasksExample: "tasks-example",
  scheduleRow: "schedule-row", // which one: data-file; how it stands: data-mark
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
  run: "run", // which one: data-run; how it stands: data-status
  runSession: "run-session",
  runStop: "run-stop",
  runDo: "run-do", // a missed one, after all
  runLeave: "run-leave",
  runsMore: "runs-more",
  scheduleForm: "schedule-form",
  scheduleFault: "schedule-fault", // of which field: data-field
  scheduleRemark: "schedule-remark",
  scheduleMeanwhile: "schedule-meanwhile",
  scheduleKeep: "schedule-keep",
  scheduleTake: "schedule-take",
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
  scheduleTell: "schedule-tell", // its parts: schedule-tell-all, …
  scheduleDrop: "schedule-drop",
  scheduleSave: "schedule-save",
  // skills
  skills: "skills",
  skillSearch: "skill-search",
  skillSources: "skill-sources", // its parts: skill-sources-all, skill-sources-yours, skill-sources-folder, skill-sources-bundled
  skillFolder: "skill-folder",
  skillPropose: "skill-propose",
  skillNew: "skill-new",
  skillRow: "skill-row", // which one: data-skill, data-origin
  skillOn: "skill-on",
  skillAutomatic: "skill-automatic",
  skillDetail: "skill-detail",
  skillWaits: "skill-waits", // it came with a folder and was not accepted
  skillAccept: "skill-accept",
  skillUse: "skill-use",
  skillExport: "skill-export",
  skillDelete: "skill-delete",
  skillForm: "skill-form", // its parts: skill-form-preview, skill-form-text
  skillSource: "skill-source", // the SKILL.md as it is written
  skillEdit: "skill-edit",
  skillEditDrop: "skill-edit-drop",
  skillText: "skill-text",
  skillSave: "skill-save",
  skillMeanwhile: "skill-meanwhile",
  skillVersion: "skill-version",
  skillVersionForm: "skill-version-form", // its parts: skill-version-form-difference, skill-version-form-text
  skillPutBack: "skill-put-back",
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
  importFrom: "import-from",
  importLook: "import-look",
  importFolder: "import-folder",
  importArchive: "import-archive",
  importSkill: "import-skill", // which one: data-skill
  importInstall: "import-install",
  // memories
  memory: "memory",
  memorySearch: "memory-search",
  memoryRemember: "memory-remember",
  memoryNew: "memory-new",
  memoryRow: "memory-row", // which one: data-file
  memoryDetail: "memory-detail",
  memoryEdit: "memory-edit",
  memoryTopic: "memory-topic",
  memoryDescription: "memory-description",
  memoryText: "memory-text",
  memorySave: "memory-save",
  memoryDrop: "memory-drop",
  memoryDelete: "memory-delete",
  memoryConflict: "memory-conflict",
  memoryKeep: "memory-keep",
  memoryTake: "memory-take",
  personaRow: "persona-row", // which one: data-kind
  personaDetail: "persona-detail",
  personaEdit: "persona-edit",
  personaText: "persona-text",
  personaSave: "persona-save",
  personaReset: "persona-reset",
  libraryPropose: "library-propose",
  libraryOthers: "library-others",
  libraryRemember: "library-remember",
  librarySubAgents: "library-sub-agents",
  // palette and shortcuts
  palette: "palette",
  paletteInput: "palette-input",
  paletteChoice: "palette-choice", // which one: data-choice
  shortcuts: "shortcuts",
  // the system
  closing: "closing",
  closingHide: "closing-hide",
  closingQuit: "closing-quit",
  quickAsk: "quick-ask",
  quickText: "quick-text",
  newForeign: "new-foreign",
  newTitle: "new-title",
  updateLook: "update-look",
  updateByItself: "update-by-itself",
  updateOffer: "update-offer",
  updateInstall: "update-install",
  updateComing: "update-coming",
  updateCancel: "update-cancel",
  // error and start screens
  startFailure: "start-failure",
  startAgain: "start-again",
  damagedReplace: "damaged-replace",
  damagedDialog: "damaged-dialog",
  damagedConfirm: "damaged-confirm",
  toast: "toast",
} as const;
