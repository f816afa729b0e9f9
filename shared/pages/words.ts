// Every word on the pages and in the mails that the people of our customers see, in every language we speak. One table: a language
// more is one entry more.

const en = {
  unsubscribe: "Unsubscribe",
  askTitle: "Unsubscribe?",
  ask: (email: string, site: string) => `${email} will get no more news from ${site}.`,
  outTitle: "You are unsubscribed",
  out: (email: string, site: string) =>
    `${email} gets no more news from ${site}. It may take a moment until mail that is already on its way has arrived.`,
  back: "Subscribe again",
  backWhy: "Was it a mistake?",
  backTitle: "Welcome back",
  backDone: (email: string, site: string) => `${email} gets news from ${site} again.`,
  suppressedTitle: "No mail goes to this address",
  suppressed: (email: string, site: string) => `${site} does not write to ${email} any more, so there is nothing to unsubscribe from.`,
  invalidTitle: "This link does not work",
  invalid: "It may have been cut off in the mail, or be too old. Please open it again from the mail it came with.",
  confirmTitle: "One click left",
  confirmAsk: (email: string, site: string) => `Please confirm that ${email} would like to hear from ${site}.`,
  confirm: "Yes, confirm",
  confirmIgnore: "If that was not you, close this page: nothing will be sent.",
  confirmedTitle: "Thank you, it is confirmed",
  confirmed: (email: string, site: string) => `${site} may now write to ${email}.`,
  mailSubject: (site: string) => `Please confirm: ${site}`,
  mailAsk: (site: string) => `somebody, we hope you, entered this address at ${site}. Please confirm that it is yours:`,
  mailHello: "Hello,",
  mailIgnore: "If it was not you, do nothing: you will hear no more of it.",
  thanksTitle: "Thank you",
  thanks: "Your details have been received.",
  pendingTitle: "Please look into your inbox",
  pending: "We have sent you a mail with a link. Open it to confirm your address.",
  inactiveTitle: "This form is closed",
  inactive: "It takes no more entries at the moment.",
  failedTitle: "That did not work",
  failed: "Something went wrong. Please try again.",
  goBack: "Back to the form",
  email: "Email",
  submit: "Send",
  required: "required",
  choose: "Please choose",
  honeypot: "Leave this field empty",
};
export type Words = typeof en;

const de: Words = {
  unsubscribe: "Abmelden",
  askTitle: "Abmelden?",
  ask: (email, site) => `${email} erhält dann keine Neuigkeiten mehr von ${site}.`,
  outTitle: "Sie sind abgemeldet",
  out: (email, site) => `${email} erhält keine Neuigkeiten mehr von ${site}. Was schon unterwegs ist, kann noch eintreffen.`,
  back: "Wieder anmelden",
  backWhy: "War es ein Versehen?",
  backTitle: "Schön, dass Sie wieder da sind",
  backDone: (email, site) => `${email} erhält wieder Neuigkeiten von ${site}.`,
  suppressedTitle: "An diese Adresse geht keine Post",
  suppressed: (email, site) => `${site} schreibt nicht mehr an ${email}. Es gibt also nichts abzumelden.`,
  invalidTitle: "Dieser Link funktioniert nicht",
  invalid: "Vielleicht wurde er in der Mail abgeschnitten oder ist zu alt. Bitte öffnen Sie ihn noch einmal aus der Mail.",
  confirmTitle: "Noch ein Klick",
  confirmAsk: (email, site) => `Bitte bestätigen Sie, dass ${email} von ${site} hören möchte.`,
  confirm: "Ja, bestätigen",
  confirmIgnore: "Waren Sie das nicht, schließen Sie diese Seite: Es wird nichts gesendet.",
  confirmedTitle: "Danke, das ist bestätigt",
  confirmed: (email, site) => `${site} darf jetzt an ${email} schreiben.`,
  mailSubject: (site) => `Bitte bestätigen: ${site}`,
  mailAsk: (site) => `jemand, hoffentlich Sie, hat diese Adresse bei ${site} eingetragen. Bitte bestätigen Sie, dass es Ihre ist:`,
  mailHello: "Guten Tag,",
  mailIgnore: "Waren Sie es nicht, tun Sie nichts: Sie hören dann nicht mehr davon.",
  thanksTitle: "Vielen Dank",
  thanks: "Ihre Angaben sind angekommen.",
  pendingTitle: "Bitte sehen Sie in Ihr Postfach",
  pending: "Wir haben Ihnen eine Mail mit einem Link geschickt. Öffnen Sie ihn, um Ihre Adresse zu bestätigen.",
  inactiveTitle: "Dieses Formular ist geschlossen",
  inactive: "Es nimmt zurzeit keine Einträge an.",
  failedTitle: "Das hat nicht geklappt",
  failed: "Etwas ist schiefgegangen. Bitte versuchen Sie es noch einmal.",
  goBack: "Zurück zum Formular",
  email: "E-Mail",
  submit: "Absenden",
  required: "erforderlich",
  choose: "Bitte wählen",
  honeypot: "Dieses Feld leer lassen",
};

const fr: Words = {
  unsubscribe: "Se désabonner",
  askTitle: "Se désabonner ?",
  ask: (email, site) => `${email} ne recevra plus de nouvelles de ${site}.`,
  outTitle: "Vous êtes désabonné",
  out: (email, site) => `${email} ne reçoit plus de nouvelles de ${site}. Les messages déjà partis peuvent encore arriver.`,
  back: "Se réabonner",
  backWhy: "C’était une erreur ?",
  backTitle: "Heureux de vous retrouver",
  backDone: (email, site) => `${email} reçoit de nouveau des nouvelles de ${site}.`,
  suppressedTitle: "Aucun message n’est envoyé à cette adresse",
  suppressed: (email, site) => `${site} n’écrit plus à ${email} : il n’y a pas d’abonnement à résilier.`,
  invalidTitle: "Ce lien ne fonctionne pas",
  invalid: "Il a peut-être été coupé dans le message, ou il est trop ancien. Ouvrez-le de nouveau depuis le message d’origine.",
  confirmTitle: "Plus qu’un clic",
  confirmAsk: (email, site) => `Confirmez que ${email} souhaite recevoir des nouvelles de ${site}.`,
  confirm: "Oui, confirmer",
  confirmIgnore: "Si ce n’était pas vous, fermez cette page : rien ne sera envoyé.",
  confirmedTitle: "Merci, c’est confirmé",
  confirmed: (email, site) => `${site} peut maintenant écrire à ${email}.`,
  mailSubject: (site) => `Merci de confirmer : ${site}`,
  mailAsk: (site) => `quelqu’un, vous sans doute, a saisi cette adresse chez ${site}. Confirmez qu’elle est bien la vôtre :`,
  mailHello: "Bonjour,",
  mailIgnore: "Si ce n’était pas vous, ne faites rien : vous n’en entendrez plus parler.",
  thanksTitle: "Merci",
  thanks: "Vos informations ont bien été reçues.",
  pendingTitle: "Consultez votre boîte de réception",
  pending: "Nous vous avons envoyé un message avec un lien. Ouvrez-le pour confirmer votre adresse.",
  inactiveTitle: "Ce formulaire est fermé",
  inactive: "Il n’accepte pas de réponses pour le moment.",
  failedTitle: "Cela n’a pas fonctionné",
  failed: "Une erreur s’est produite. Veuillez réessayer.",
  goBack: "Retour au formulaire",
  email: "E-mail",
  submit: "Envoyer",
  required: "obligatoire",
  choose: "Veuillez choisir",
  honeypot: "Laissez ce champ vide",
};

const es: Words = {
  unsubscribe: "Darse de baja",
  askTitle: "¿Darse de baja?",
  ask: (email, site) => `${email} no recibirá más noticias de ${site}.`,
  outTitle: "Se ha dado de baja",
  out: (email, site) => `${email} ya no recibe noticias de ${site}. Los mensajes que ya están en camino aún pueden llegar.`,
  back: "Volver a suscribirse",
  backWhy: "¿Fue un error?",
  backTitle: "Nos alegra verle de nuevo",
  backDone: (email, site) => `${email} vuelve a recibir noticias de ${site}.`,
  suppressedTitle: "No se envía correo a esta dirección",
  suppressed: (email, site) => `${site} ya no escribe a ${email}, así que no hay nada de lo que darse de baja.`,
  invalidTitle: "Este enlace no funciona",
  invalid: "Puede que se haya cortado en el mensaje o que sea demasiado antiguo. Ábralo de nuevo desde el mensaje original.",
  confirmTitle: "Solo un clic más",
  confirmAsk: (email, site) => `Confirme que ${email} desea recibir noticias de ${site}.`,
  confirm: "Sí, confirmar",
  confirmIgnore: "Si no fue usted, cierre esta página: no se enviará nada.",
  confirmedTitle: "Gracias, está confirmado",
  confirmed: (email, site) => `${site} ya puede escribir a ${email}.`,
  mailSubject: (site) => `Confirme, por favor: ${site}`,
  mailAsk: (site) => `alguien, esperamos que usted, ha introducido esta dirección en ${site}. Confirme que es la suya:`,
  mailHello: "Hola:",
  mailIgnore: "Si no fue usted, no haga nada: no volverá a saber de ello.",
  thanksTitle: "Gracias",
  thanks: "Hemos recibido sus datos.",
  pendingTitle: "Mire su bandeja de entrada",
  pending: "Le hemos enviado un mensaje con un enlace. Ábralo para confirmar su dirección.",
  inactiveTitle: "Este formulario está cerrado",
  inactive: "Por ahora no admite más respuestas.",
  failedTitle: "No ha funcionado",
  failed: "Algo ha ido mal. Inténtelo de nuevo.",
  goBack: "Volver al formulario",
  email: "Correo electrónico",
  submit: "Enviar",
  required: "obligatorio",
  choose: "Elija una opción",
  honeypot: "Deje este campo vacío",
};

export const words = { en, de, fr, es };
export type Language = keyof typeof words;

const known = (tag: string): Language | undefined => {
  const [name = ""] = tag.trim().toLowerCase().split("-");
  return Object.hasOwn(words, name) ? (name as Language) : undefined;
};

/** The language that a browser likes best of those we speak (RFC 9110, section 12.5.4); English where it likes none. */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wishes = (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((wish) => {
      const [tag = "", weight = ""] = wish.split(";");
      const [, q = "1"] = /^\s*q=([\d.]+)/.exec(weight) ?? [];
      return { language: known(tag), q: Number(q) };
    });
  const liked = wishes.filter(({ language, q }) => language && q > 0).sort((a, b) => b.q - a.q);
  return liked[0]?.language ?? "en";
}

/** The language that html says it is in. */
export function languageOfHtml(html: string): Language {
  const [, tag = ""] = /<html\b[^>]*?\slang\s*=\s*["']?([\w-]+)/i.exec(html) ?? [];
  return known(tag) ?? "en";
}
