/**
 * The `data-testid` of everything the end-to-end tests and scripts touch, in one place.
 * Rows carry a second attribute that says which one they are: `data-session`, `data-step`, `data-question`.
 */
export const testids = {
  // composer
  composer: "composer",
  send: "send",
  stop: "stop",
  attach: "attach",
  attachment: "attachment",
  // sidebar
  sessionRow: "session-row",
  newSession: "new-session",
  search: "search",
  openSettings: "open-settings",
  // transcript
  transcript: "transcript",
  userMessage: "user-message",
  answer: "answer",
  stepRow: "step-row",
  stepBody: "step-body",
  turnEnd: "turn-end",
  turnError: "turn-error",
  retry: "retry",
  toEnd: "to-end",
  trouble: "trouble",
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
  // plan and queue
  plan: "plan",
  queue: "queue",
  queueRow: "queue-row",
  // status bar
  statusMode: "status-mode",
  statusModel: "status-model",
  statusFolder: "status-folder",
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
  // new session
  newFolder: "new-folder",
  newFolderPick: "new-folder-pick",
  profile: "profile", // its parts: profile-general, profile-coding
  // settings
  settings: "settings",
  modelRow: "model-row",
  addModel: "add-model",
  measure: "measure",
  modelFacts: "model-facts",
  modelSpeed: "model-speed",
  modelTestCard: "model-test-card",
  modelLight: "model-light",
  modelFallback: "model-fallback",
  proxy: "proxy", // its parts: proxy-system, proxy-none, proxy-manual
  proxyAddress: "proxy-address",
  language: "language", // its parts: language-system, language-en, language-zh
  theme: "theme", // its parts: theme-system, theme-light, theme-dark
  defaultMode: "default-mode", // its parts: default-mode-ask, default-mode-ask_risky, default-mode-autonomous
  // clear screens
  startFailure: "start-failure",
  toast: "toast",
} as const;
