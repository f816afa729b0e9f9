// The texts of the service in Spanish.
import type * as en from "./en.ts";

/** The texts at the end of mails. */
export const emailFooter: typeof en.emailFooter = {
  unsubscribe: "Darse de baja",
  preferences: "Preferencias de correo",
  sentWith: "Enviado con Pennymail",
};

/** The mail that asks to confirm an address. */
export const confirmationEmail: typeof en.confirmationEmail = {
  confirm: "Sí, confirmar",
  subject: (site) => `Confirme su dirección de correo para ${site}`,
  greeting: "Hola:",
  intro: (site) =>
    `Se ha introducido esta dirección de correo en ${site}. Si ha sido usted, confírmela:`,
  ignoreNote:
    "Si no ha sido usted, ignore este correo. Sin su confirmación no se hará ninguna " +
    "suscripción.",
};

/** The page of a link that does not work. */
export const invalidLink: typeof en.invalidLink = {
  invalidTitle: "Este enlace no funciona",
  invalid:
    "Puede que esté incompleto o que sea demasiado antiguo. Ábralo de nuevo desde el correo " +
    "original.",
};

/** The pages behind the unsubscribe link. */
export const unsubscribePage: typeof en.unsubscribePage = {
  askTitle: "¿Darse de baja?",
  unsubscribeQuestion: (email, site) => `${email} no recibirá más noticias de ${site}.`,
  unsubscribedTitle: "Baja confirmada",
  unsubscribed: (email, site) =>
    `${email} ya no recibirá noticias de ${site}. Los correos ya enviados aún pueden llegar.`,
  outAll: (email) => `${email} ya no recibirá noticias de ningún sitio de este remitente.`,
  all: "Darse de baja de todos los correos de este remitente",
  allWhy: "¿Recibe también correos de otros sitios de este remitente?",
  resubscribe: "Volver a suscribirse",
  resubscribeHint: "¿Ha sido un error?",
  resubscribedTitle: "Nos alegra verle de nuevo",
  resubscribed: (email, site) => `${email} volverá a recibir noticias de ${site}.`,
  preferencesTitle: "Sus preferencias de correo",
  preferences: (email, site) => `Elija qué correos puede enviar ${site} a ${email}.`,
  leaveTopic: (topic) => `Darse de baja de ${topic}`,
  leaveTopicQuestion: (email, topic, site) =>
    `${email} no recibirá más correos sobre ${topic} de ${site}.`,
  leftTopicTitle: (topic) => `Se ha dado de baja de ${topic}`,
  topics: "Correos que puede elegir",
  save: "Guardar la selección",
  savedTitle: "Su selección se ha guardado",
  leaveSite: "Darse de baja de todo",
  leaveSiteHint: (site) => `¿No quiere recibir más correos de ${site}?`,
  suppressedTitle: "Esta dirección no recibe correos",
  suppressed: (email, site) =>
    `${site} ya no envía correos a ${email}, por lo que no es necesario darse de baja.`,
  details: "Sus datos",
  saveDetails: "Guardar los datos",
  detailsSavedTitle: "Sus datos se han guardado",
  yes: "Sí",
  no: "No",
  snoozeTitle: "Hacer una pausa",
  snoozeHint: (site) => `Sigue suscrito y durante ese tiempo no recibe novedades de ${site}.`,
  snoozeFor: "Pausar los correos durante",
  days: (count) => `${count} días`,
  snooze: "Pausar los correos",
  snoozedTitle: "Sus correos están en pausa",
  snoozed: (email, site, date) => `${email} no recibirá novedades de ${site} hasta el ${date}.`,
  endSnooze: "Volver a recibir correos",
  reasonTitle: "¿Por qué se ha dado de baja?",
  reasons: {
    too_many: "Demasiados correos",
    not_relevant: "Los correos no son relevantes para mí",
    not_interested: "Ya no me interesa",
    never_subscribed: "Nunca me suscribí",
    other: "Otro motivo",
  },
  comment: "Sus comentarios (opcional)",
  sendReason: "Enviar respuesta",
  thanksForReason: "Gracias por su respuesta.",
};

/** Forms, and the pages that confirm a subscription. */
export const formPage: typeof en.formPage = {
  confirmTitle: "Solo un clic más",
  confirmAsk: (email, site) => `Confirme que desea recibir noticias de ${site} en ${email}.`,
  confirmIgnore: "Si no ha sido usted, cierre esta página. No se enviará nada.",
  expiredTitle: "Este enlace ha caducado",
  expired: (email, site) =>
    `Tiene más de 30 días, por lo que ${email} aún no está confirmada para ` +
    `${site}. Podemos enviarle uno nuevo.`,
  sendAgain: "Enviar un correo nuevo",
  confirmedTitle: "Gracias por su confirmación",
  confirmed: (email, site) => `${site} ya puede enviarle correos a ${email}.`,
  thanksTitle: "Gracias",
  thanks: "Hemos recibido sus datos.",
  pendingTitle: "Revise su bandeja de entrada",
  pending: "Le hemos enviado un correo con un enlace. Abra el enlace para confirmar su dirección.",
  inactiveTitle: "Este formulario está cerrado",
  inactive: "Por ahora no admite más respuestas.",
  failed: "Se ha producido un error. Inténtelo de nuevo.",
  busy: "Están llegando demasiados envíos. Inténtelo de nuevo en un minuto.",
  captchaFailed: "Confirme que es una persona y vuelva a enviar.",
  captchaUnavailable:
    "La comprobación contra el spam no está disponible en este momento. " +
    "Vuelva a intentarlo en unos minutos.",
  email: "Correo electrónico",
  submit: "Enviar",
  required: "obligatorio",
  honeypot: "Deje este campo vacío",
  errorSummaryTitle: "Revise los datos",
  fieldError: (label, fault) => `${label}: ${fault}`,
};

/** Fields that a visitor or a contact fills in. */
export const fieldInput: typeof en.fieldInput = {
  choose: "Elija una opción",
  firstName: "Nombre",
  lastName: "Apellidos",
  phone: "Teléfono",
  company: "Empresa",
  fieldErrors: {
    required: "complete este campo",
    tick: "marque esta casilla",
    email: "no es una dirección de correo válida",
    number: "no es un número",
    date: "no es una fecha",
    url: "no es una dirección web como https://example.com",
    choice: "elija una de las opciones",
    long: "es demasiado largo",
  },
};

/** The page that shows an email in the browser, when there is no email to show. */
export const browserView: typeof en.browserView = {
  goneTitle: "Este correo ya no está guardado",
  gone:
    "Guardamos los correos durante 60 días para que pueda leerlos en el navegador. Todavía puede " +
    "leer este en su buzón.",
  previewTitle: "Este enlace funciona en los correos enviados",
  preview:
    "Lo ha abierto desde una vista previa o una prueba. Quienes reciben el correo lo ven aquí.",
};

/** Secure messages: the notice mail, and the page that shows the message. */
export const secureMessage: typeof en.secureMessage = {
  noticeFrom: (sender) =>
    `${sender} le ha enviado un mensaje protegido. No está en este correo. Puede leerlo en ` +
    "una página aparte:",
  noticeOpen: "Abrir el mensaje",
  noticePassphrase: "Necesitará la contraseña que le ha dado el remitente.",
  expiryNote: (date) => `El mensaje se puede abrir hasta el ${date}.`,
  title: "Un mensaje protegido para usted",
  from: (sender) => `${sender} le ha enviado un mensaje que solo puede leer en esta página.`,
  show: "Mostrar el mensaje",
  passphrase: "Contraseña",
  passphraseHint: "Se la ha dado el remitente.",
  wrong: "La contraseña no es correcta. Inténtelo de nuevo.",
  tooMany: "Demasiados intentos fallidos. Inténtelo de nuevo dentro de una hora.",
  goneTitle: "Este mensaje ya no está disponible",
  gone:
    "Ha caducado o se ha retirado. Si todavía lo necesita, póngase en contacto con el " +
    "remitente.",
  invalidTitle: "Este enlace no funciona",
  invalid: "Puede que esté incompleto. Ábralo de nuevo desde el correo original.",
  frameTitle: "El mensaje",
  sentBy: (sender) => `De ${sender}.`,
  files: "Archivos",
  filesHint: "Los enlaces funcionan durante una hora. Después, abra de nuevo el mensaje.",
};

/** Error pages. */
export const errorPage: typeof en.errorPage = {
  busyTitle: "No disponible en este momento",
  busy: "Espere un momento, vuelva atrás e inténtelo de nuevo.",
  largeTitle: "El texto es demasiado largo",
  large: "Vuelva atrás y acórtelo.",
  wrongTitle: "No ha funcionado",
  wrong: "No se ha podido procesar la solicitud. Vuelva atrás e inténtelo de nuevo.",
  goneTitle: "Página no encontrada",
  gone:
    "Puede que el enlace esté incompleto o sea demasiado antiguo. Abra de nuevo el enlace " +
    "completo.",
  oursTitle: "Se ha producido un error",
  ours: "El problema es nuestro. Inténtelo de nuevo dentro de unos minutos.",
  reference: "Referencia",
};

/** The pages that verify an email address. */
export const emailVerification: typeof en.emailVerification = {
  title: "Confirmar su dirección de correo",
  question: (email) => `¿Se ha registrado con ${email}? Confirme entonces la dirección.`,
  verify: "Confirmar",
  doneTitle: "Su dirección de correo está confirmada",
  done: "Ya puede enviar correos.",
  invalidTitle: "Este enlace ya no funciona",
  invalid:
    "Ya se usó, tiene más de 24 horas o está incompleto. Si todavía no puede enviar, inicie " +
    "sesión y pida un enlace nuevo.",
};

/** The password reset pages. */
export const passwordReset: typeof en.passwordReset = {
  resetTitle: "Elegir una contraseña nueva",
  newPassword: "Contraseña nueva",
  passwordRule:
    "Al menos 10 caracteres. Se cerrarán todas las sesiones y tendrá que iniciar sesión de nuevo.",
  apiKeys: (count) => `Las claves de API que usted creó siguen siendo válidas (${count}):`,
  revokeApiKeys: "Revocarlas todas. Elija esta opción si otra persona puede conocerlas.",
  save: "Guardar la contraseña nueva",
  tooShort: "La contraseña debe tener entre 10 y 200 caracteres.",
  weak: "Esta contraseña es fácil de adivinar. Elija otra, por ejemplo, varias palabras.",
  doneTitle: "Se ha guardado su nueva contraseña",
  passwordSet: "Se han cerrado todas las sesiones. Inicie sesión con su nueva contraseña.",
  invalidTitle: "Este enlace ya no funciona",
  invalid:
    "Ya se usó, tiene más de una hora o está incompleto. Escriba su dirección de correo para " +
    "recibir un enlace nuevo.",
  askTitle: "¿Ha olvidado su contraseña?",
  ask: "Escriba su dirección de correo y le enviaremos un enlace para elegir una contraseña nueva.",
  email: "Correo electrónico",
  send: "Enviarme un enlace",
  invalidEmail: "Escriba una dirección de correo válida.",
  sentTitle: "Revise su bandeja de entrada",
  linkSent:
    "Si existe una cuenta con esta dirección, le hemos enviado un correo. El enlace que " +
    "contiene caduca al cabo de una hora.",
};

/** The invitation pages. */
export const invitation: typeof en.invitation = {
  title: (organization) => `Unirse a ${organization}`,
  invited: (inviter, email) => `${inviter} ha invitado a ${email}.`,
  hasAccount:
    "Existe una cuenta con esta dirección. Escriba su contraseña para aceptar la invitación.",
  password: "Contraseña",
  forgot: "¿Ha olvidado su contraseña?",
  name: "Su nombre (opcional)",
  newPassword: "Elija una contraseña",
  passwordRule: "Al menos 10 caracteres.",
  join: "Unirse",
  joinWithSso: "Unirse con inicio de sesión único",
  wrongPassword: "Esta no es la contraseña de la cuenta. Inténtelo de nuevo.",
  tooShort: "La contraseña debe tener entre 10 y 200 caracteres.",
  weak: "Esta contraseña es fácil de adivinar. Elija otra, por ejemplo, varias palabras.",
  tooMany: "Demasiados intentos fallidos. Espere 15 minutos e inténtelo de nuevo.",
  codeTitle: "Escriba su código",
  codeFromApp: "Escriba el código de su aplicación de autenticación o un código de recuperación.",
  codeFromMail:
    "Le hemos enviado un código por correo. Escríbalo, o escriba un código de recuperación.",
  code: "Código",
  wrongCode: "Este código no es correcto o ya se usó. Inténtelo de nuevo.",
  doneTitle: (organization) => `Ya es miembro de ${organization}`,
  done: "Ha iniciado sesión.",
  logInWithSso: "Entrar con inicio de sesión único",
  alreadyTitle: "Ya es miembro",
  already: "No queda nada por hacer.",
  invalidTitle: "Esta invitación ya no funciona",
  invalid:
    "Se aceptó o se anuló, tiene más de siete días o el enlace está incompleto. Pida una nueva a " +
    "la persona que le invitó.",
};

/** The pages of single sign-on. */
export const sso: typeof en.sso = {
  startTitle: (organization) => `Iniciar sesión en ${organization}`,
  start: "Continuar con el inicio de sesión",
  failedTitle: "No se pudo iniciar la sesión",
  reason: "Motivo",
  again: "Intentarlo de nuevo",
};

/** The links at the end of account pages. */
export const wayOn: typeof en.wayOn = {
  logIn: "Iniciar sesión",
  openConsole: "Abrir la consola",
};

/** The list of the public archive. */
export const archivePage: typeof en.archivePage = {
  title: (name: string) => `${name}: archivo del boletín`,
  older: "Correos anteriores",
  newest: "Correos más recientes",
  feed: "Canal RSS",
  none: "Todavía no se ha publicado ningún correo.",
  noSubject: "Sin asunto",
};
