// How files say whether somebody gets email: headers and words of the tools that people come from,
// in the languages of the headers. Headers and words are written as `lettersOf` returns them.
import type { ContactStatus } from "../contacts/contact-schema.ts";

/** Lower case, without accents and anything that is neither letter nor digit. */
export const lettersOf = (text: string): string =>
  text
    .normalize("NFD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

/** Fields that several columns may have. The strictest cell of a row decides. */
export const consentFields = [
  "status",
  "subscribed",
  "unsubscribed",
  "unsubscribedAt",
  "bouncedAt",
] as const;
export type ConsentField = (typeof consentFields)[number];

// Mailchimp: files per status, with UNSUB_TIME or CLEAN_TIME. listmonk, MailerLite, ActiveCampaign,
// Campaign Monitor (State), ConvertKit, rapidmail: a status. MailerLite: also dates in Subscribed
// and Unsubscribed. Brevo: OPT_IN, Blocklisted. Klaviyo: Email Marketing Consent. HubSpot:
// Unsubscribed from all email; Portal Unsubscribe, Portal Bounce. Shopify: Accepts Email Marketing.
// Mautic: doNotEmail. CleverReach: deactivated, 0 or a time.
export const consentHeaders: Record<ConsentField, string> = {
  status:
    "status emailstatus subscriptionstatus contactstatus emailmarketingstatus " +
    "marketingstatus memberstatus subscriberstatus emailsubscriptionstatus " +
    "emailsubscriberstatus emailpermissionstatus optinstatus consentstatus emailconsentstatus " +
    "newsletterstatus anmeldestatus abonnentenstatus statutabonnement statutdelabonne " +
    "estadosuscripcion estadodesuscripcion",
  subscribed:
    "subscribed issubscribed emailsubscribed subscribedtoemail subscribedtoemails " +
    "subscribedtonewsletter newslettersubscribed newslettersubscription newsletter newsletters " +
    "newsletteroptin emailoptin emailoptedin optin isoptin optedin isoptedin hasoptedin " +
    "optinemail marketingoptin optinmarketing optinnewsletter acceptsmarketing " +
    "acceptsemailmarketing acceptsemail acceptmarketing acceptedmarketing consent " +
    "emailconsent marketingconsent emailmarketingconsent consentemail consenttoemail " +
    "canreceiveemailmarketing emailmarketingcanreceiveemailmarketing emailpermission " +
    "marketingpermission emailsenabled receiveemails receivesemails receivenewsletter " +
    "receivesnewsletter wantsnewsletter wantsemails allowemail allowemails emailallowed mailable " +
    "abonniert istabonniert newsletterabonniert newsletterabo newsletterabonnement " +
    "newsletteranmeldung newsletterempfang newsletteraktiv newslettereinwilligung einwilligung " +
    "emaileinwilligung marketingeinwilligung werbeeinwilligung zustimmung newsletterzustimmung " +
    "emailzustimmung werbungerlaubt werbeerlaubnis newslettererwunscht newslettergewunscht " +
    "abonne abonnee abonnenewsletter inscrit inscrite inscritnewsletter inscritalanewsletter " +
    "inscriptionnewsletter consentement consentementemail consentementmarketing " +
    "accepteemail acceptelesemails accepteemailmarketing acceptemarketing " +
    "acceptelanewsletter acceptenewsletter " +
    "suscrito suscrita suscripto estasuscrito suscritoalboletin suscripcionnewsletter boletin " +
    "consentimiento consentimientoemail consentimientomarketing aceptamarketing " +
    "aceptaemailmarketing aceptapublicidad aceptacorreos aceptaemails aceptanewsletter " +
    "iscritto iscrittonewsletter iscrittoallanewsletter consenso consensoemail consensomarketing " +
    "accettamarketing accettaemailmarketing inscrito assinante consentimento aceitamarketing " +
    "aceitaemailmarketing geabonneerd toestemming nieuwsbrief ontvangtnieuwsbrief",
  unsubscribed:
    "unsubscribed isunsubscribed hasunsubscribed emailunsubscribed unsubscribe unsubscribes " +
    "globalunsubscribe portalunsubscribe unsubscribedfromall unsubscribedfromallemail " +
    "unsubscribedfromallemails unsubscribedfromemail unsubscribedfromemails " +
    "unsubscribedfromnewsletter optout isoptout optedout isoptedout hasoptedout emailoptout " +
    "emailoptedout hasoptedoutofemail optedoutofemail optedoutofallemail optoutemail " +
    "optoutofemail marketingoptout newsletteroptout donotemail donotmail donotcontact " +
    "donotsend donotsendemail donotemailme dnc noemail noemails nomarketing nonewsletter " +
    "blocklisted blacklisted isblacklisted isblocklisted emailblacklisted emailblocklisted " +
    "emailblacklist emailblocklist suppressed issuppressed emailsuppressed spamreport " +
    "portalspamreport markedasspam complained " +
    "abgemeldet istabgemeldet newsletterabgemeldet abbestellt newsletterabbestellt ausgetragen " +
    "keinnewsletter keinenewsletter keinewerbung keineemail keineemails werbesperre " +
    "newslettersperre gesperrt widersprochen widerspruch widerrufen werbewiderspruch " +
    "nichtkontaktieren deaktiviert " +
    "desabonne desabonnee desinscrit desinscrite desinscritnewsletter nepascontacter " +
    "nepasenvoyer stopemail refusemarketing opposition " +
    "dadodebaja dadadebaja baja bajanewsletter desuscrito desuscrita nosuscrito nocontactar " +
    "noenviar noenviaremail bloqueado " +
    "disiscritto disiscrittanewsletter noncontattare descadastrado desinscrito naocontatar " +
    "uitgeschreven afgemeld nietmailen",
  unsubscribedAt:
    "unsubscribedat unsubscribetime unsubtime unsubscribedate unsubscribeddate dateunsubscribed " +
    "unsubscribedon unsubscribetimestamp optoutdate optouttime optedoutat optedoutdate " +
    "emailoptoutdate deactivated deactivatedat deactivateddate abmeldedatum abgemeldetam " +
    "abgemeldetseit abmeldung abmeldezeitpunkt deaktiviertam datedesinscription " +
    "datededesinscription datedesabonnement datededesabonnement desinscritle fechabaja " +
    "fechadebaja datadisiscrizione",
  bouncedAt:
    "bouncedat cleanedat cleantime bouncedate bounceddate datebounced bounced hardbounced " +
    "hardbounce isbounced portalbounce globalbounce gebounct unzustellbar",
};

// A column with one of these in its header may be about consent.
const consentStems =
  "subscri optin optedin newsletter consent marketing gdpr dsgvo rgpd permission mailing " +
  "mailable acceptsemail receiveemail receivesemail einwillig zustimm erlaub abonn " +
  "anmeldung angemeldet inscri suscri boletin consens iscri toestemming nieuwsbrief";
const refusalStems =
  "unsub optout optedout donot dnc blacklist blocklist suppress spam bounce abgemeldet abmeld " +
  "abbestell sperr widerspr widerruf desabonn desinscri nepas baja desuscri disiscri descadastr " +
  "uitgeschreven afgemeld";
/** These may as well be about something else, such as an address. */
const vagueHeaders = new Set(
  "active aktiv actif activo attivo ativo actief state statut estado stato".split(" "),
);
const otherChannels = /sms|phone|telefon|telephone|whatsapp|push|post(al|alisch)|fax/;

const containsOneOf = (words: string): ((text: string) => boolean) => {
  const pattern = new RegExp(words.replaceAll(" ", "|"));
  return (text) => pattern.test(text);
};
const hasConsentStem = containsOneOf(consentStems);
const hasRefusalStem = containsOneOf(refusalStems);

/** What the cells of a column are, if its header may be about consent. */
export interface ConsentEvidence {
  words: boolean;
  dates: boolean;
  numbers: boolean;
  others: boolean;
}
const noEvidence: ConsentEvidence = {
  words: false,
  dates: false,
  numbers: false,
  others: false,
};

/** What the cells of one column are. */
export interface ConsentColumn {
  index: number;
  evidence: ConsentEvidence;
}

/** The columns whose header may be about consent. */
export const findConsentColumns = (headers: string[]): ConsentColumn[] =>
  headers.flatMap((header, index) =>
    isAboutConsent(header) ? [{ index, evidence: noEvidence }] : [],
  );

export function addEvidenceOfRow(columns: ConsentColumn[], cells: string[]): void {
  for (const column of columns)
    column.evidence = addEvidence(column.evidence, cells[column.index] ?? "");
}

const isAboutConsent = (header: string): boolean => {
  const letters = lettersOf(header);
  if (otherChannels.test(letters)) return false;
  return vagueHeaders.has(letters) || hasConsentStem(letters) || hasRefusalStem(letters);
};

function addEvidence(evidence: ConsentEvidence, cell: string): ConsentEvidence {
  const text = cell.trim();
  if (text === "") return evidence;
  if (/^[01]$/.test(text)) return { ...evidence, numbers: true };
  const answer = readAnswer(text);
  if (answer === "none") return evidence;
  if (isDate(text)) return { ...evidence, dates: true };
  if (answer || readStatus(text)) return { ...evidence, words: true };
  return { ...evidence, others: true };
}

/** Whether the cells of a column about consent answer like consent, or like a refusal. */
export function mayMeanConsent(header: string, evidence: ConsentEvidence): boolean {
  const letters = lettersOf(header);
  if (vagueHeaders.has(letters) && evidence.others) return false;
  return (
    evidence.words ||
    (evidence.numbers && !evidence.others) ||
    (evidence.dates && hasRefusalStem(letters))
  );
}

const wordsOf = (text: string): Set<string> => new Set(text.split(" "));
const yesWords = wordsOf(
  "yes y true t 1 x on ok ja j wahr oui o vrai si s verdadero sim vero verdadeiro waar joined " +
    "accepted accept agreed granted given allowed checked email emailsms",
);
const noWords = wordsOf(
  "no n false f 0 off nein falsch non faux falso nao nee onwaar left declined denied refused " +
    "rejected notgiven notallowed notgranted unchecked never nie niemals jamais nunca mai nooit",
);
/** No value, as databases and spreadsheets export it. */
const emptyWords = wordsOf("null nil none na nan undefined unknown notset");

export type Answer = "yes" | "no" | "none";

/** Yes, no or no value. Undefined: the cell says something else. */
export function readAnswer(cell: string): Answer | undefined {
  const text = cell.trim();
  if (/^[✓✔☑✅]$/u.test(text)) return "yes";
  if (/^[✗✘✕✖❌]$/u.test(text)) return "no";
  if (/^[-–—./\\?☐"']*$/u.test(text) || isZeroDate(text)) return "none";
  if (/^-?\d/.test(text) && !/^[01]$/.test(text)) return undefined;
  const word = lettersOf(text);
  if (yesWords.has(word)) return "yes";
  if (noWords.has(word)) return "no";
  return emptyWords.has(word) ? "none" : undefined;
}

const isZeroDate = (text: string): boolean =>
  /^(0000-00-00|0001-01-01|1970-01-01|00[./]00[./]0000|01[./]01[./]1970)/.test(text) ||
  /^0{2,}$/.test(text);

/** A date or time in a usual form. */
export const isDate = (text: string): boolean =>
  !isZeroDate(text) && dateForms.some((form) => form.test(text));

const dateForms = [
  /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}/,
  /^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}/,
  // Seconds or milliseconds since 1970.
  /^1\d{9}(\d{3})?$/,
  /^(\p{L}+\.?,? )?(\d{1,2}\.? \p{L}{3,}|\p{L}{3,}\.? \d{1,2}),?\.? \d{4}/u,
];

const spellings: Record<ContactStatus | "suppressed", string> = {
  subscribed:
    "subscribed active confirmed enabled optin optedin cold aktiv bestatigt abonniert angemeldet " +
    "actif active abonne inscrit confirme activo suscrito confirmado attivo iscritto ativo " +
    "inscrito actief geabonneerd",
  unsubscribed:
    "unsubscribed unsub optout optedout inactive disabled archived nonsubscribed notsubscribed " +
    "neversubscribed transactional cancelled canceled removed deleted denied notoptedin " +
    "nonmarketingcontact abgemeldet inaktiv geloscht deaktiviert abbestellt ausgetragen " +
    "widerrufen nieabonniert nichtabonniert inactif desabonne desinscrit supprime " +
    "nonabonne noninscrit inactivo desuscrito dadodebaja baja cancelado nosuscrito eliminado " +
    "disiscritto inattivo descadastrado inativo uitgeschreven afgemeld",
  pending:
    "pending unconfirmed unverified new unbestatigt ausstehend neu enattente nonconfirme " +
    "noconfirmado pendiente inattesa nonconfermato pendente onbevestigd",
  suppressed:
    "suppressed cleaned bounced hardbounce hardbounced complained complaint spam spamcomplaint " +
    "spamreport blocklisted blacklisted blocked junk abused gebounct unerwunscht gesperrt " +
    "blockiert bloque rebotado bloqueado bloccato geblokkeerd",
};
const statusByWord = new Map(
  Object.entries(spellings).flatMap(([status, words]) =>
    words.split(" ").map((word) => [word, status as ContactStatus | "suppressed"] as const),
  ),
);

/** The status that a word means. Undefined: it is none. */
export const readStatus = (cell: string): ContactStatus | "suppressed" | undefined =>
  statusByWord.get(lettersOf(cell));
