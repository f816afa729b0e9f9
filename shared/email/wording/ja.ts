// The texts of the service in Japanese.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "配信停止",
  preferences: "メールの設定",
  sentWith: "Pennymailで送信",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "確認する",
  subject: (site) => `${site}：メールアドレスをご確認ください`,
  greeting: "こんにちは。",
  intro: (site) =>
    `このメールアドレスが${site}で入力されました。ご本人の場合は、以下からご確認ください。`,
  ignoreNote:
    "お心当たりがない場合は、このメールを無視してください。確認されない限り、登録は行われません。",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "このリンクは使用できません",
  invalid:
    "リンクが不完全か、古くなっている可能性があります。元のメールからもう一度開いてください。",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "配信を停止しますか？",
  unsubscribeQuestion: (email, site) => `${site}から${email}へのお知らせの配信を停止します。`,
  unsubscribedTitle: "配信を停止しました",
  unsubscribed: (email, site) =>
    `今後、${site}から${email}へお知らせは送信されません。すでに送信済みのメールは届くことがあります。`,
  outAll: (email) => `今後、この送信者のすべてのサイトから${email}へお知らせは送信されません。`,
  all: "この送信者からのすべてのメールを停止する",
  allWhy: "この送信者の別のサイトからもメールが届いていますか？",
  resubscribe: "配信を再開する",
  resubscribeHint: "誤って停止しましたか？",
  resubscribedTitle: "配信を再開しました",
  resubscribed: (email, site) => `${site}から${email}へのお知らせの配信を再開します。`,
  preferencesTitle: "メールの配信設定",
  preferences: (email, site) => `${site}から${email}に送信するメールをお選びください。`,
  leaveTopic: (topic) => `「${topic}」の配信を停止する`,
  leaveTopicQuestion: (email, topic, site) =>
    `${site}から${email}への「${topic}」に関するメールの配信を停止します。`,
  leftTopicTitle: (topic) => `「${topic}」の配信を停止しました`,
  topics: "選択できるメール",
  save: "設定を保存する",
  savedTitle: "設定を保存しました",
  leaveSite: "すべての配信を停止する",
  leaveSiteHint: (site) => `${site}からのメールをすべて停止しますか？`,
  suppressedTitle: "このアドレスにはメールが送信されません",
  suppressed: (email, site) =>
    `${site}は${email}へのメール送信をすでに停止しているため、お手続きは不要です。`,
  details: "お客様の情報",
  saveDetails: "情報を保存",
  detailsSavedTitle: "情報を保存しました",
  yes: "はい",
  no: "いいえ",
  snoozeTitle: "配信を一時停止する",
  snoozeHint: (site) => `登録はそのままで、その期間は${site}からのお知らせが届きません。`,
  snoozeFor: "一時停止の期間",
  days: (count) => `${count}日間`,
  snooze: "配信を一時停止",
  snoozedTitle: "配信を一時停止しています",
  snoozed: (email, site, date) => `${date}まで、${email}に${site}からのお知らせは届きません。`,
  endSnooze: "配信を再開する",
  reasonTitle: "配信停止の理由をお聞かせください",
  reasons: {
    too_many: "メールが多すぎる",
    not_relevant: "内容が自分に合わない",
    not_interested: "興味がなくなった",
    never_subscribed: "登録した覚えがない",
    other: "その他の理由",
  },
  comment: "ご意見（任意）",
  sendReason: "回答を送信",
  thanksForReason: "ご回答ありがとうございました。",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "あと1クリックで完了です",
  confirmAsk: (email, site) => `${site}からのお知らせを${email}で受け取ることをご確認ください。`,
  confirmIgnore: "お心当たりがない場合は、このページを閉じてください。何も送信されません。",
  expiredTitle: "このリンクは期限切れです",
  expired: (email, site) =>
    `発行から30日を過ぎたため、${site} での ${email} の確認は完了していません。新しいリンクをお送りできます。`,
  sendAgain: "新しいメールを送る",
  confirmedTitle: "ご確認ありがとうございます",
  confirmed: (email, site) => `${site}から${email}へメールを送信できるようになりました。`,
  thanksTitle: "ありがとうございます",
  thanks: "ご入力内容を受け付けました。",
  pendingTitle: "受信トレイをご確認ください",
  pending: "リンクを記載したメールを送信しました。リンクを開いて、メールアドレスをご確認ください。",
  inactiveTitle: "このフォームは受付を終了しました",
  inactive: "現在、入力を受け付けていません。",
  failed: "エラーが発生しました。もう一度お試しください。",
  busy: "現在アクセスが集中しています。1分後にもう一度お試しください。",
  captchaFailed: "ロボットではないことを確認してから、もう一度送信してください。",
  captchaUnavailable: "現在、迷惑送信の確認を利用できません。数分後にもう一度お試しください。",
  email: "メールアドレス",
  submit: "送信",
  required: "必須",
  honeypot: "この欄は空のままにしてください",
  errorSummaryTitle: "入力内容をご確認ください",
  fieldError: (label, fault) => `${label}：${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "選択してください",
  firstName: "名",
  lastName: "姓",
  phone: "電話番号",
  company: "会社名",
  fieldErrors: {
    required: "入力してください",
    tick: "チェックを入れてください",
    email: "メールアドレスの形式ではありません",
    number: "数値ではありません",
    date: "日付ではありません",
    url: "https://example.com のようなURLではありません",
    choice: "選択肢から1つお選びください",
    long: "長すぎます",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "このメールは保存期間が終了しました",
  gone:
    "ブラウザーでお読みいただけるように、メールを60日間保存しています。このメールは、" +
    "お使いのメールボックスで引き続きお読みいただけます。",
  previewTitle: "このリンクは送信済みのメールで使用できます",
  preview:
    "プレビューまたはテストから開かれました。メールを受け取った方には、ここに内容が表示されます。",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender}から保護されたメッセージが届いています。内容はこのメールには含まれていません。` +
    "次のページでお読みいただけます。",
  noticeOpen: "メッセージを開く",
  noticePassphrase: "送信者からお知らせしたパスフレーズが必要です。",
  expiryNote: (date) => `このメッセージは${date}まで開くことができます。`,
  title: "保護されたメッセージが届いています",
  from: (sender) => `${sender}から、このページでのみ読めるメッセージが届いています。`,
  show: "メッセージを表示する",
  passphrase: "パスフレーズ",
  passphraseHint: "送信者からお知らせしたものです。",
  wrong: "パスフレーズが正しくありません。もう一度お試しください。",
  tooMany: "失敗した回数が多すぎます。1時間後にもう一度お試しください。",
  goneTitle: "このメッセージは表示できなくなりました",
  gone: "期限が切れたか、取り消されました。必要な場合は、送信者にお問い合わせください。",
  invalidTitle: "このリンクは使用できません",
  invalid: "リンクが不完全な可能性があります。元のメールからもう一度開いてください。",
  frameTitle: "メッセージ",
  sentBy: (sender) => `送信者：${sender}。`,
  files: "ファイル",
  filesHint: "リンクは1時間有効です。その後は、メッセージをもう一度開いてください。",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "現在ご利用いただけません",
  busy: "しばらく待ってから前のページに戻り、もう一度お試しください。",
  largeTitle: "入力内容が長すぎます",
  large: "前のページに戻り、短くしてください。",
  wrongTitle: "処理できませんでした",
  wrong: "リクエストを処理できませんでした。前のページに戻り、もう一度お試しください。",
  goneTitle: "ページが見つかりません",
  gone: "リンクが不完全か、古くなっている可能性があります。リンク全体をもう一度開いてください。",
  oursTitle: "エラーが発生しました",
  ours: "サーバー側の問題です。数分後にもう一度お試しください。",
  reference: "参照番号",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "メールアドレスの確認",
  question: (email) => `${email}でご登録されましたか？その場合は、アドレスをご確認ください。`,
  verify: "確認する",
  doneTitle: "メールアドレスを確認しました",
  done: "メールを送信できるようになりました。",
  invalidTitle: "このリンクは使用できなくなりました",
  invalid:
    "すでに使用されたか、24時間以上経過したか、リンクが不完全です。まだ送信できない場合は、" +
    "ログインして新しいリンクを請求してください。",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "新しいパスワードの設定",
  newPassword: "新しいパスワード",
  passwordRule:
    "10文字以上で入力してください。すべての端末からログアウトし、再度ログインが必要になります。",
  apiKeys: (count) => `作成されたAPIキーは引き続き有効です（${count}件）：`,
  revokeApiKeys: "すべて無効にする。他の人に知られている可能性がある場合にお選びください。",
  save: "新しいパスワードを保存する",
  tooShort: "パスワードは10～200文字で入力してください。",
  weak: "このパスワードは推測されやすいです。複数の単語を並べるなど、別のものをお選びください。",
  doneTitle: "新しいパスワードを設定しました",
  passwordSet: "すべての端末からログアウトしました。新しいパスワードでログインしてください。",
  invalidTitle: "このリンクは使用できなくなりました",
  invalid:
    "すでに使用されたか、1時間以上経過したか、リンクが不完全です。新しいリンクを受け取るには、" +
    "メールアドレスを入力してください。",
  askTitle: "パスワードをお忘れですか？",
  ask: "メールアドレスを入力してください。新しいパスワードを設定するためのリンクをお送りします。",
  email: "メールアドレス",
  send: "リンクを送信する",
  invalidEmail: "有効なメールアドレスを入力してください。",
  sentTitle: "受信トレイをご確認ください",
  linkSent:
    "このアドレスのアカウントが存在する場合は、メールをお送りしました。メール内のリンクは1時間" +
    "有効です。",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `${organization}に参加する`,
  invited: (inviter, email) => `${inviter}が${email}を招待しました。`,
  hasAccount: "このアドレスのアカウントがあります。参加するにはパスワードを入力してください。",
  password: "パスワード",
  forgot: "パスワードをお忘れですか？",
  name: "お名前（任意）",
  newPassword: "パスワードの設定",
  passwordRule: "10文字以上。",
  join: "参加する",
  joinWithSso: "シングルサインオンで参加する",
  wrongPassword: "アカウントのパスワードと一致しません。もう一度お試しください。",
  tooShort: "パスワードは10～200文字で入力してください。",
  weak: "このパスワードは推測されやすいです。複数の単語を並べるなど、別のものをお選びください。",
  tooMany: "失敗した回数が多すぎます。15分後にもう一度お試しください。",
  codeTitle: "コードを入力してください",
  codeFromApp: "認証アプリのコード、またはリカバリーコードを入力してください。",
  codeFromMail:
    "コードをメールでお送りしました。そのコード、またはリカバリーコードを入力してください。",
  code: "コード",
  wrongCode: "コードが間違っているか、すでに使用されています。もう一度お試しください。",
  doneTitle: (organization) => `${organization}のメンバーになりました`,
  done: "ログインしました。",
  logInWithSso: "シングルサインオンでログインする",
  alreadyTitle: "すでにメンバーです",
  already: "必要な操作はありません。",
  invalidTitle: "この招待は使用できなくなりました",
  invalid:
    "承諾または取り消し済みか、7日以上経過したか、リンクが不完全です。招待した方に新しい招待を" +
    "ご依頼ください。",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `${organization}にログイン`,
  start: "ログインに進む",
  failedTitle: "ログインできませんでした",
  reason: "理由",
  again: "もう一度試す",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "ログイン",
  openConsole: "コンソールを開く",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}：メールマガジンのバックナンバー`,
  older: "以前のメール",
  newest: "最新のメール",
  feed: "RSSフィード",
  none: "まだ公開されたメールはありません。",
  noSubject: "件名なし",
};
