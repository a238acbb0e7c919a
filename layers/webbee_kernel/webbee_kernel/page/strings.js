// What the page itself says, in English and Russian.

const EN = {
  skip: "Skip to the message field", signInTitle: "Talk to your apps", signInLead: "Mail, tasks, notes: one conversation, every fact checked.",
  token: "Access token", tokenHint: "Paste the token your identity provider gave you. It stays in this tab.", signIn: "Sign in", signOut: "Sign out",
  localUsers: "Local users", badToken: "This token was not accepted.", loading: "Loading…", sessions: "Conversations", newSession: "New conversation",
  deleteSession: "Delete conversation “{title}”", deleteSessionAsk: "Delete this conversation? Its memory is gone for good.", untitled: "New conversation",
  noSessions: "Nothing here yet.", chat: "Chat", panels: "Panels", more: "More", composer: "Message", placeholder: "Ask or tell…", send: "Send",
  you: "You", webbee: "Webbee", working: "Working…", seconds: "{n} s", retry: "Try again", notSent: "Not sent: {why}", tooLong: "{n} of {limit} characters",
  fiveTurns: "Older turns are not kept: a conversation remembers its last five.", empty: "What shall we do?", tryThis: "For example",
  confirmTitle: "Please confirm", accept: "Yes, do it", refuse: "No", confirmExpires: "Waits {n} more", confirmOver: "This question has expired.",
  confirmDone: "Answered.", calls: "What was done", ok: "done", failed: "failed", notifications: "Notifications", noNotifications: "No notifications.",
  unread: "{n} new", refresh: "Refresh", refreshPanel: "Refresh {title}", panelFailed: "This panel could not be shown: {why}",
  close: "Close", cancel: "Cancel", yes: "Yes", sure: "Are you sure?", sureDelete: "“{label}” cannot be undone.", result: "Result", noData: "Nothing to show.",
  unknownNode: "{type} (shown as data)", htmlNode: "HTML source", offline: "Connection lost. Trying again…", online: "Connected again.", cannotOpen: "This address is not opened: {url}",
  lateResult: "{name} has finished", apps: "Apps", install: "Install", uninstall: "Remove", installed: "installed", appFailed: "failed to load: {why}",
  secrets: "Secrets", secretSet: "set", secretMissing: "not set", save: "Save", saved: "Saved.", secretValue: "Value of {name}",
  inspector: "Inspector", inspectLead: "What the model reads for the message below, and why.", dryRun: "Nothing is called or stored.", inspectMessage: "Message to try",
  search: "Find a value", searchHint: "A word, number or address the model should know", find: "Find", blocks: "Size", prompt: "Prompt", system: "System text",
  sections: "Skeleton", turns: "Turns and facts", functions: "Functions", placeholders: "Masked values", chars: "{n} characters", ofCap: "of {cap}", tokens: "≈ {n} tokens",
  fieldName: "Field", fieldState: "State", fieldShown: "The model reads", fieldWhy: "Why", raw: "Stored data", age: "Age", ttl: "Lifetime", nextRefresh: "Next refresh",
  failures: "Failures", lastError: "Last error", never: "never", overdue: "due", inSeconds: "in {n} s", notInPrompt: "not in the prompt", shown: "shown", cut: "cut",
  dropped: "dropped", masked: "masked", hidden: "hidden", unknown: "unknown", leaves: "leaves when turn {n} is recorded", cuts: "Cut by the ledger", grounding: "Grounding",
  grounded: "every claim was found", ungrounded: "not found: {what}", notJudged: "not judged: {why}", guard: "Guards", position: "Place", rank: "Rank", fn: "Function",
  offered: "offered", lineSize: "{n} of {limit} characters", noMasked: "Nothing is masked.", piiOpen: "Masking is off in this deployment.", stale: "older than its lifetime",
  nextTurn: "The next turn is number {n}.", found: "Found", noFacts: "no facts", stored: "{n} characters stored", navigation: "Navigation", panelsLeft: "Left panels", panelsRight: "Right panels", moreFound: "{n} more places",
  event_alert: "Alert", event_notification: "Notification", event_progress: "Progress", event_result: "Result", newLines: "Shift+Enter starts a new line",
};

const RU = {
  skip: "К полю сообщения", signInTitle: "Поговорите со своими приложениями", signInLead: "Почта, задачи, заметки: один разговор, каждый факт проверен.",
  token: "Токен доступа", tokenHint: "Вставьте токен от вашего провайдера входа. Он остаётся в этой вкладке.", signIn: "Войти", signOut: "Выйти",
  localUsers: "Местные пользователи", badToken: "Этот токен не принят.", loading: "Загрузка…", sessions: "Разговоры", newSession: "Новый разговор",
  deleteSession: "Удалить разговор «{title}»", deleteSessionAsk: "Удалить этот разговор? Его память исчезнет навсегда.", untitled: "Новый разговор",
  noSessions: "Здесь пока пусто.", chat: "Чат", panels: "Панели", more: "Ещё", composer: "Сообщение", placeholder: "Спросите или поручите…", send: "Отправить",
  you: "Вы", webbee: "Webbee", working: "Работаю…", seconds: "{n} с", retry: "Повторить", notSent: "Не отправлено: {why}", tooLong: "{n} из {limit} символов",
  fiveTurns: "Более ранние реплики не хранятся: разговор помнит последние пять.", empty: "Чем займёмся?", tryThis: "Например",
  confirmTitle: "Нужно подтверждение", accept: "Да, выполнить", refuse: "Нет", confirmExpires: "Ждёт ещё {n}", confirmOver: "Вопрос устарел.",
  confirmDone: "Ответ дан.", calls: "Что сделано", ok: "готово", failed: "не вышло", notifications: "Уведомления", noNotifications: "Уведомлений нет.",
  unread: "новых: {n}", refresh: "Обновить", refreshPanel: "Обновить: {title}", panelFailed: "Панель не показана: {why}",
  close: "Закрыть", cancel: "Отмена", yes: "Да", sure: "Вы уверены?", sureDelete: "«{label}»: это нельзя отменить.", result: "Результат", noData: "Показать нечего.",
  unknownNode: "{type} (показано как данные)", htmlNode: "Исходный HTML", offline: "Связь потеряна. Пробую снова…", online: "Связь восстановлена.", cannotOpen: "Этот адрес не открывается: {url}",
  lateResult: "{name}: готово", apps: "Приложения", install: "Установить", uninstall: "Убрать", installed: "установлено", appFailed: "не загрузилось: {why}",
  secrets: "Секреты", secretSet: "задан", secretMissing: "не задан", save: "Сохранить", saved: "Сохранено.", secretValue: "Значение {name}",
  inspector: "Инспектор", inspectLead: "Что прочтёт модель для этого сообщения и почему.", dryRun: "Ничего не вызывается и не сохраняется.", inspectMessage: "Сообщение для пробы",
  search: "Найти значение", searchHint: "Слово, число или адрес, который модель должна знать", find: "Найти", blocks: "Размер", prompt: "Промпт", system: "Системный текст",
  sections: "Скелет", turns: "Реплики и факты", functions: "Функции", placeholders: "Скрытые значения", chars: "символов: {n}", ofCap: "из {cap}", tokens: "≈ {n} токенов",
  fieldName: "Поле", fieldState: "Статус", fieldShown: "Модель читает", fieldWhy: "Почему", raw: "Хранится", age: "Возраст", ttl: "Срок", nextRefresh: "Обновление",
  failures: "Сбои", lastError: "Последняя ошибка", never: "никогда", overdue: "пора", inSeconds: "через {n} с", notInPrompt: "не в промпте", shown: "видно", cut: "обрезано",
  dropped: "отброшено", masked: "скрыто", hidden: "не показано", unknown: "неизвестно", leaves: "уйдёт, когда запишется реплика {n}", cuts: "Обрезано журналом", grounding: "Опора на данные",
  grounded: "все утверждения найдены", ungrounded: "не найдено: {what}", notJudged: "не проверялось: {why}", guard: "Проверки", position: "Место", rank: "Ранг", fn: "Функция",
  offered: "предложена", lineSize: "{n} из {limit} символов", noMasked: "Ничего не скрыто.", piiOpen: "Маскирование в этом развёртывании выключено.", stale: "старше своего срока",
  nextTurn: "Следующая реплика: {n}.", found: "Найдено", noFacts: "фактов нет", stored: "хранится символов: {n}", navigation: "Навигация", panelsLeft: "Левые панели", panelsRight: "Правые панели", moreFound: "ещё мест: {n}",
  event_alert: "Сигнал", event_notification: "Уведомление", event_progress: "Ход работы", event_result: "Результат", newLines: "Shift+Enter переносит строку",
};

export const russian = (navigator.languages?.[0] ?? navigator.language ?? "en").toLowerCase().startsWith("ru");
const words = russian ? RU : EN;

export function t(key, values = {}) {
  return (words[key] ?? EN[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
