// The texts of the service in Arabic, which is written from right to left.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "إلغاء الاشتراك",
  preferences: "تفضيلات البريد الإلكتروني",
  sentWith: "أُرسلت عبر Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "نعم، أؤكد",
  subject: (site) => `يُرجى تأكيد عنوان بريدك الإلكتروني لدى ${site}`,
  greeting: "مرحبًا،",
  intro: (site) =>
    `أُدخل عنوان البريد الإلكتروني هذا لدى ${site}. إذا كنت أنت من أدخله، فيُرجى تأكيده:`,
  ignoreNote: "إذا لم تكن أنت، فتجاهل هذه الرسالة. لن يتم اشتراكك من دون تأكيدك.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "هذا الرابط لا يعمل",
  invalid: "قد يكون غير مكتمل أو قديمًا جدًا. يُرجى فتحه مجددًا من الرسالة الأصلية.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "هل تريد إلغاء الاشتراك؟",
  unsubscribeQuestion: (email, site) => `لن تصل أخبار ${site} إلى ${email} بعد ذلك.`,
  unsubscribedTitle: "تم إلغاء اشتراكك",
  unsubscribed: (email, site) =>
    `لن تصل أخبار ${site} إلى ${email} بعد الآن. قد تصل رسائل سبق إرسالها.`,
  outAll: (email) => `لن تصل إلى ${email} أخبار أي موقع من مواقع هذا المرسل.`,
  all: "إلغاء الاشتراك في جميع رسائل هذا المرسل",
  allWhy: "هل تصلك رسائل من مواقع أخرى لهذا المرسل أيضًا؟",
  resubscribe: "الاشتراك مجددًا",
  resubscribeHint: "هل ألغيت الاشتراك عن طريق الخطأ؟",
  resubscribedTitle: "مرحبًا بعودتك",
  resubscribed: (email, site) => `ستصل أخبار ${site} إلى ${email} من جديد.`,
  preferencesTitle: "تفضيلات بريدك الإلكتروني",
  preferences: (email, site) => `اختر الرسائل التي يجوز لـ ${site} إرسالها إلى ${email}.`,
  leaveTopic: (topic) => `إلغاء الاشتراك في ${topic}`,
  leaveTopicQuestion: (email, topic, site) =>
    `لن تصل رسائل ${site} عن ${topic} إلى ${email} بعد ذلك.`,
  leftTopicTitle: (topic) => `تم إلغاء اشتراكك في ${topic}`,
  topics: "الرسائل التي يمكنك اختيارها",
  save: "حفظ الاختيارات",
  savedTitle: "تم حفظ اختياراتك",
  leaveSite: "إلغاء الاشتراك في كل شيء",
  leaveSiteHint: (site) => `ألا ترغب في تلقي أي رسائل أخرى من ${site}؟`,
  suppressedTitle: "هذا العنوان لا يتلقى رسائل",
  suppressed: (email, site) =>
    `لم يعد ${site} يرسل رسائل إلى ${email}، ولذلك لا حاجة إلى إلغاء الاشتراك.`,
  details: "بياناتك",
  saveDetails: "حفظ البيانات",
  detailsSavedTitle: "تم حفظ بياناتك",
  yes: "نعم",
  no: "لا",
  snoozeTitle: "خذ استراحة",
  snoozeHint: (site) => `يبقى اشتراكك قائمًا، ولن تصلك أخبار ${site} خلال هذه المدة.`,
  snoozeFor: "إيقاف الرسائل مؤقتًا لمدة",
  days: (count) => `${count} يومًا`,
  snooze: "إيقاف الرسائل مؤقتًا",
  snoozedTitle: "الرسائل متوقفة مؤقتًا",
  snoozed: (email, site, date) => `لن تصل أخبار ${site} إلى ${email} حتى ${date}.`,
  endSnooze: "استئناف الرسائل الآن",
  reasonTitle: "لماذا ألغيت الاشتراك؟",
  reasons: {
    too_many: "الرسائل كثيرة جدًا",
    not_relevant: "الرسائل لا تهمني",
    not_interested: "لم أعد مهتمًا",
    never_subscribed: "لم أشترك قط",
    other: "سبب آخر",
  },
  comment: "تعليقك (اختياري)",
  sendReason: "إرسال الإجابة",
  thanksForReason: "شكرًا على إجابتك.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "نقرة واحدة أخيرة",
  confirmAsk: (email, site) => `يُرجى تأكيد رغبتك في تلقي أخبار ${site} على العنوان ${email}.`,
  confirmIgnore: "إذا لم تكن أنت، فأغلق هذه الصفحة. لن يُرسل أي شيء.",
  expiredTitle: "انتهت صلاحية هذا الرابط",
  expired: (email, site) =>
    `مضى على الرابط أكثر من 30 يومًا، لذلك لم يتم تأكيد ${email} لدى ` +
    `${site} بعد. يمكننا إرسال رابط جديد إليك.`,
  sendAgain: "إرسال رسالة جديدة",
  confirmedTitle: "شكرًا على التأكيد",
  confirmed: (email, site) => `يمكن الآن لـ ${site} إرسال رسائل إلى ${email}.`,
  thanksTitle: "شكرًا لك",
  thanks: "تم استلام بياناتك.",
  pendingTitle: "يُرجى التحقق من بريدك الوارد",
  pending: "أرسلنا إليك رسالة تحتوي على رابط. افتح الرابط لتأكيد عنوانك.",
  inactiveTitle: "هذا النموذج مغلق",
  inactive: "لا يقبل إدخالات في الوقت الحالي.",
  failed: "حدث خطأ ما. يُرجى المحاولة مرة أخرى.",
  busy: "هناك عدد كبير جدًا من الإدخالات الآن. يُرجى المحاولة بعد دقيقة.",
  captchaFailed: "يُرجى تأكيد أنك لست روبوتًا ثم الإرسال مجددًا.",
  captchaUnavailable:
    "التحقق من الرسائل المزعجة غير متاح حاليًا. يُرجى المحاولة مجددًا بعد بضع دقائق.",
  email: "البريد الإلكتروني",
  submit: "إرسال",
  required: "مطلوب",
  honeypot: "اترك هذا الحقل فارغًا",
  errorSummaryTitle: "يُرجى مراجعة ما أدخلته",
  fieldError: (label, fault) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "يُرجى الاختيار",
  firstName: "الاسم الأول",
  lastName: "اسم العائلة",
  phone: "الهاتف",
  company: "الشركة",
  fieldErrors: {
    required: "يُرجى ملء هذا الحقل",
    tick: "يُرجى تحديد هذا المربع",
    email: "هذا ليس عنوان بريد إلكتروني",
    number: "هذا ليس رقمًا",
    date: "هذا ليس تاريخًا",
    url: "هذا ليس عنوان ويب مثل https://example.com",
    choice: "يُرجى اختيار أحد الخيارات",
    long: "النص طويل جدًا",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "لم تعد هذه الرسالة محفوظة",
  gone:
    "نحتفظ بالرسائل لمدة 60 يومًا لتتمكن من قراءتها في المتصفح. لا يزال بإمكانك قراءة " +
    "هذه الرسالة في صندوق بريدك.",
  previewTitle: "يعمل هذا الرابط في الرسائل المُرسلة",
  preview: "فُتح من معاينة أو من رسالة تجريبية. يرى مستلمو الرسالة محتواها هنا.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `أرسل إليك ${sender} رسالة محمية. وهي غير موجودة في هذا البريد. يمكنك قراءتها في صفحة منفصلة:`,
  noticeOpen: "فتح الرسالة",
  noticePassphrase: "ستحتاج إلى عبارة المرور التي أعطاك إياها المرسل.",
  expiryNote: (date) => `يمكن فتح الرسالة حتى ${date}.`,
  title: "رسالة محمية لك",
  from: (sender) => `أرسل إليك ${sender} رسالة لا يمكنك قراءتها إلا في هذه الصفحة.`,
  show: "عرض الرسالة",
  passphrase: "عبارة المرور",
  passphraseHint: "أعطاك إياها المرسل.",
  wrong: "عبارة المرور غير صحيحة. يُرجى المحاولة مرة أخرى.",
  tooMany: "عدد كبير جدًا من المحاولات الفاشلة. يُرجى المحاولة بعد ساعة.",
  goneTitle: "لم تعد هذه الرسالة متاحة",
  gone: "انتهت صلاحيتها أو سُحبت. إذا كنت لا تزال بحاجة إليها، فيُرجى التواصل مع المرسل.",
  invalidTitle: "هذا الرابط لا يعمل",
  invalid: "قد يكون غير مكتمل. يُرجى فتحه مجددًا من الرسالة الأصلية.",
  frameTitle: "الرسالة",
  sentBy: (sender) => `من ${sender}.`,
  files: "الملفات",
  filesHint: "تعمل الروابط لمدة ساعة. بعد ذلك افتح الرسالة مرة أخرى.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "غير متاح حاليًا",
  busy: "يُرجى الانتظار قليلًا، ثم العودة والمحاولة مرة أخرى.",
  largeTitle: "النص الذي أدخلته طويل جدًا",
  large: "يُرجى العودة واختصاره.",
  wrongTitle: "لم تنجح العملية",
  wrong: "تعذرت معالجة طلبك. يُرجى العودة والمحاولة مرة أخرى.",
  goneTitle: "الصفحة غير موجودة",
  gone: "قد يكون الرابط غير مكتمل أو قديمًا جدًا. يُرجى فتح الرابط الكامل مجددًا.",
  oursTitle: "حدث خطأ ما",
  ours: "المشكلة من جانبنا. يُرجى المحاولة بعد بضع دقائق.",
  reference: "الرقم المرجعي",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "تأكيد عنوان بريدك الإلكتروني",
  question: (email) => `هل سجّلت باستخدام ${email}؟ إذن يُرجى تأكيد العنوان.`,
  verify: "تأكيد",
  doneTitle: "تم تأكيد عنوان بريدك الإلكتروني",
  done: "يمكنك الآن إرسال الرسائل.",
  invalidTitle: "لم يعد هذا الرابط يعمل",
  invalid:
    "استُخدم من قبل، أو مضى عليه أكثر من 24 ساعة، أو أنه غير مكتمل. إذا كنت لا تزال غير قادر " +
    "على الإرسال، فسجّل الدخول واطلب رابطًا جديدًا.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "تعيين كلمة مرور جديدة",
  newPassword: "كلمة المرور الجديدة",
  passwordRule: "10 أحرف على الأقل. سيتم تسجيل خروجك من جميع الأجهزة، وعليك تسجيل الدخول مجددًا.",
  apiKeys: (count) => `مفاتيح API التي أنشأتها لا تزال تعمل (${count}):`,
  revokeApiKeys: "إبطالها جميعًا. اختر ذلك إذا كان من الممكن أن يعرفها شخص آخر.",
  save: "حفظ كلمة المرور الجديدة",
  tooShort: "يجب أن يتراوح طول كلمة المرور بين 10 أحرف و200 حرف.",
  weak: "من السهل تخمين كلمة المرور هذه. يُرجى اختيار كلمة أخرى، مثل عدة كلمات متتالية.",
  doneTitle: "تم تعيين كلمة مرورك الجديدة",
  passwordSet: "تم تسجيل خروجك من جميع الأجهزة. سجّل الدخول بكلمة مرورك الجديدة.",
  invalidTitle: "لم يعد هذا الرابط يعمل",
  invalid:
    "استُخدم من قبل، أو مضى عليه أكثر من ساعة، أو أنه غير مكتمل. أدخل عنوان بريدك الإلكتروني " +
    "للحصول على رابط جديد.",
  askTitle: "هل نسيت كلمة المرور؟",
  ask: "أدخل عنوان بريدك الإلكتروني، وسنرسل إليك رابطًا لتعيين كلمة مرور جديدة.",
  email: "البريد الإلكتروني",
  send: "إرسال الرابط",
  invalidEmail: "يُرجى إدخال عنوان بريد إلكتروني صالح.",
  sentTitle: "يُرجى التحقق من بريدك الوارد",
  linkSent: "إذا كان هناك حساب بهذا العنوان، فالرسالة في طريقها إليك. يعمل الرابط فيها لمدة ساعة.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `الانضمام إلى ${organization}`,
  invited: (inviter, email) => `دعا ${inviter} صاحب العنوان ${email}.`,
  hasAccount: "يوجد حساب بهذا العنوان. أدخل كلمة مروره للانضمام.",
  password: "كلمة المرور",
  forgot: "هل نسيت كلمة المرور؟",
  name: "اسمك (اختياري)",
  newPassword: "اختر كلمة مرور",
  passwordRule: "10 أحرف على الأقل.",
  join: "انضمام",
  joinWithSso: "الانضمام عبر تسجيل الدخول الموحد",
  wrongPassword: "هذه ليست كلمة مرور الحساب. يُرجى المحاولة مرة أخرى.",
  tooShort: "يجب أن يتراوح طول كلمة المرور بين 10 أحرف و200 حرف.",
  weak: "من السهل تخمين كلمة المرور هذه. يُرجى اختيار كلمة أخرى، مثل عدة كلمات متتالية.",
  tooMany: "عدد كبير جدًا من المحاولات الفاشلة. يُرجى الانتظار 15 دقيقة ثم المحاولة مرة أخرى.",
  codeTitle: "أدخل الرمز",
  codeFromApp: "أدخل رمز تطبيق المصادقة، أو أحد رموز الاسترداد.",
  codeFromMail: "أرسلنا إليك رمزًا عبر البريد الإلكتروني. أدخله، أو أدخل أحد رموز الاسترداد.",
  code: "الرمز",
  wrongCode: "هذا الرمز غير صحيح أو استُخدم من قبل. يُرجى المحاولة مرة أخرى.",
  doneTitle: (organization) => `أصبحت الآن عضوًا في ${organization}`,
  done: "تم تسجيل دخولك.",
  logInWithSso: "تسجيل الدخول الموحد",
  alreadyTitle: "أنت عضو بالفعل",
  already: "لم يتبقَّ ما يجب فعله.",
  invalidTitle: "لم تعد هذه الدعوة صالحة",
  invalid:
    "قُبلت أو أُلغيت، أو مضى عليها أكثر من سبعة أيام، أو أن الرابط غير مكتمل. اطلب دعوة جديدة " +
    "من الشخص الذي دعاك.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `تسجيل الدخول إلى ${organization}`,
  start: "المتابعة إلى تسجيل الدخول",
  failedTitle: "لم ينجح تسجيل الدخول",
  reason: "السبب",
  again: "إعادة المحاولة",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "تسجيل الدخول",
  openConsole: "فتح وحدة التحكم",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}: أرشيف النشرة البريدية`,
  older: "رسائل أقدم",
  newest: "أحدث الرسائل",
  feed: "موجز RSS",
  none: "لم تُنشر أي رسالة بعد.",
  noSubject: "بلا موضوع",
};
