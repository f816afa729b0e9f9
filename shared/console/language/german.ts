// The texts of the console in German, by the English message.
import type { Catalog } from "./translate.ts";

export const german: Catalog = {
  " and ": " und ",
  " or ": " oder ",
  " since {since}, when reports began": " seit Beginn der Meldungen am {since}",
  " · Each contact gets it at {localTime} local time":
    " · Jeder Kontakt erhält sie am {localTime} Ortszeit",
  "(no subject)": "(kein Betreff)",
  "(required)": "(Pflichtfeld)",
  "({count} times)": "({count}-mal)",
  ", {attempts} tries": ", {attempts} Versuche",
  "0 sent": "0 gesendet",
  "1 day": "1 Tag",
  "1 hour": "1 Stunde",
  "1 job finished": "1 Aufgabe fertig",
  "1. Audience": "1. Empfängerkreis",
  "2 days": "2 Tage",
  "2 hours": "2 Stunden",
  "2 to 5 ways by chance": "2 bis 5 zufällige Wege",
  "2. Email": "2. E-Mail",
  "20 active sequences start in this way already. Pause one of them first.":
    "Schon 20 aktive Automationen beginnen auf diese Weise. Halten Sie zuerst eine davon an.",
  "3. Files and values": "3. Dateien und Werte",
  "30 days": "30 Tage",
  "4 hours": "4 Stunden",
  "4. A/B test": "4. A/B-Test",
  "5. Tracking": "5. Tracking",
  "6. Test email": "6. Test-E-Mail",
  "7 days": "7 Tage",
  "7. Send": "7. Senden",
  "8 hours": "8 Stunden",
  ["<b>Contacts who unsubscribed get it too</b>, without an unsubscribe link. Only send " +
    "what they must know."]:
    "<b>Auch abgemeldete Kontakte erhalten sie</b>, und zwar ohne Abmeldelink. Senden Sie " +
    "nur, was sie wissen müssen.",
  "90 days": "90 Tage",
  "<link>Back to the campaign</link> · Version {version}":
    "<link>Zurück zur Kampagne</link> · Version {version}",
  "<link>Sequences</link> · {status} {active} in it now · {completed} completed":
    "<link>Automationen</link> · {status} {active} derzeit darin · {completed} abgeschlossen",
  "<link>Snippets</link> · Version {version}": "<link>Bausteine</link> · Version {version}",
  "<link>Templates</link> · Version {version}": "<link>Vorlagen</link> · Version {version}",
  "A DKIM key, or a CNAME to one.": "Ein DKIM-Schlüssel oder ein CNAME darauf.",
  "A campaign is one email to a list, a tag or a segment.":
    "Eine Kampagne ist eine E-Mail an eine Liste, ein Tag oder ein Segment.",
  "A campaign is one email to many contacts. There is none yet. <link>Write one</link>":
    "Eine Kampagne ist eine E-Mail an viele Kontakte. Es gibt noch keine. <link>Kampagne " +
    "schreiben</link>",
  "A campaign that is sent again cannot recur.":
    "Eine erneut gesendete Kampagne kann nicht wiederkehren.",
  "A campaign with files cannot recur. Remove them first.":
    "Eine Kampagne mit Dateien kann nicht wiederkehren. Entfernen Sie sie zuerst.",
  "A campaign with variants cannot recur. Remove them first.":
    "Eine Kampagne mit Varianten kann nicht wiederkehren. Entfernen Sie sie zuerst.",
  "A change of the snippet appears in each email that has it.":
    "Änderungen am Baustein erscheinen in jeder E-Mail, die ihn enthält.",
  "A change that you save appears in all of these at once.":
    "Eine gespeicherte Änderung erscheint sofort in allen diesen.",
  "A changed plan starts with its first day again.":
    "Ein geänderter Plan beginnt wieder mit dem ersten Tag.",
  "A domain has one SPF record. If there is one, add these hosts to it.":
    "Eine Domain hat nur einen SPF-Eintrag. Gibt es schon einen, ergänzen Sie diese Server darin.",
  ["A key of version 3, which begins with xkeysib-. If the account restricts IP addresses, " +
    "allow those of this service."]:
    "Ein Schlüssel der Version 3, der mit xkeysib- beginnt. Wenn das Konto IP-Adressen " +
    "einschränkt, erlauben Sie die dieses Dienstes.",
  "A reply by email is email_replied.": "Eine Antwort per E-Mail ist email_replied.",
  "A start. When all your email passes, change none to quarantine or reject.":
    "Für den Anfang. Wenn alle Ihre E-Mails bestehen, ändern Sie none in quarantine oder reject.",
  "Access key id": "Zugriffsschlüssel-ID",
  "Account token": "Konto-Token",
  "Acts for": "Handelt für",
  "Add the inbound domain, and a relay webhook with the URL.":
    "Die Inbound-Domain und einen Relay-Webhook mit der URL hinzufügen.",
  "Add to a sequence": "Zu einer Automation hinzufügen",
  "Add to sequence": "Zur Automation hinzufügen",
  "Add {email} to a sequence": "{email} zu einer Automation hinzufügen",
  "Address of the service account:": "Adresse des Dienstkontos:",
  "Address that receives email (optional)": "Adresse, die E-Mails empfängt (optional)",
  "Address, A to Z": "Adresse, A bis Z",
  "Address, Z to A": "Adresse, Z bis A",
  "Address for bounces": "Adresse für Rückläufer",
  "After {days, plural, one {# day} other {# days}}, the message is deleted.":
    "Nach {days, plural, one {# Tag} other {# Tagen}} wird die Nachricht gelöscht.",
  ["An SMTP server reports bounces by email. Enter the mailbox of its return path, and " +
    "new email in it is read every 10 minutes."]:
    "Ein SMTP-Server meldet Bounces per E-Mail. Tragen Sie das Postfach seines " +
    "Return-Path ein, und neue E-Mails darin werden alle 10 Minuten gelesen.",
  "An SMTP server reports bounces by email only: let the service read its bounce mailbox.":
    "Ein SMTP-Server meldet Bounces nur per E-Mail: Lassen Sie den Dienst sein " +
    "Bounce-Postfach lesen.",
  "An empty answer": "Eine leere Antwort",
  "Answer of a machine": "Automatische Antwort",
  "Answered with status {responseStatus}": "Antwort mit Status {responseStatus}",
  "Also remove it from the lists of your providers": "Auch bei Ihren Anbietern entfernen",
  "Anyone who knows the URL can store email here, so treat it like a password.":
    "Wer die URL kennt, kann hier E-Mails ablegen. Behandeln Sie sie daher wie ein Passwort.",
  "As Mailgun knows it, such as mg.example.com.": "Wie Mailgun sie kennt, etwa mg.example.com.",
  "As your site reports it, such as added_to_cart. A reply by email is email_replied.":
    "Wie Ihre Website es meldet, etwa added_to_cart. Eine Antwort per E-Mail ist email_replied.",
  Attention: "Achtung",
  "Because of your policy": "Wegen Ihrer Richtlinie",
  Blue: "Blau",
  "Bounce mailboxes": "Bounce-Postfächer",
  "Bounce report": "Bericht über einen Bounce",
  "Bounces are read from the bounce mailbox.": "Bounces werden aus dem Bounce-Postfach gelesen.",
  Check: "Prüfung",
  "By the day on which they start": "Nach dem Tag, an dem sie beginnen",
  Calendar: "Kalender",
  "Check and save": "Prüfen und speichern",
  "Check everything": "Alles prüfen",
  "Checks the login, how bounces come back, and the DNS records of the domain.":
    "Prüft die Anmeldung, wie Bounces zurückkommen, und die DNS-Einträge der Domain.",
  "Choose the file": "Datei wählen",
  "Complaint report": "Bericht über eine Beschwerde",
  Connect: "Verbinden",
  "Connect Google Postmaster Tools": "Google Postmaster Tools verbinden",
  "Connect Postmaster Tools": "Postmaster Tools verbinden",
  Connections: "Verbindungen",
  "Consent to DMARC reports": "Zustimmung zu DMARC-Berichten",
  "Contacts are sorted by address or day added. Other orders would need all to be read.":
    "Sortiert wird nach Adresse oder Tag. Für andere Reihenfolgen müssten alle gelesen werden.",
  "Configuration set": "Konfigurationssatz",
  "Connections at the same time": "Gleichzeitige Verbindungen",
  "Copy the URL": "URL kopieren",
  "Copy the scopes": "Die Bereiche kopieren",
  "Copy what was sent": "Gesendetes kopieren",
  "Clear the search, or choose another status.":
    "Leeren Sie die Suche oder wählen Sie einen anderen Status.",
  "Create a <a>service account</a> in it. It needs no role.":
    "Legen Sie darin ein <a>Dienstkonto</a> an. Es braucht keine Rolle.",
  "Create a parse route with the URL, by the API of Mailjet.":
    "Über die API von Mailjet eine Parse-Route mit der URL anlegen.",
  "Create a webhook of the type inbound with the URL, by the API of Brevo.":
    "Über die API von Brevo einen Webhook vom Typ inbound mit der URL anlegen.",
  "Created {time}": "Erstellt {time}",
  "DMARC reports": "DMARC-Berichte",
  "DMARC reports of the last 30 days": "DMARC-Berichte der letzten 30 Tage",
  ["Delegate these scopes to the account in the <a>Admin console</a> (domain-wide " +
    "delegation), and name a user who sees your domains in Postmaster Tools."]:
    "Delegieren Sie diese Bereiche in der <a>Admin-Konsole</a> an das Konto (domainweite " +
    "Delegierung), und nennen Sie einen Nutzer, der Ihre Domains in den Postmaster Tools " +
    "sieht.",
  "Delete it": "Löschen",
  "Discard it": "Verwerfen",
  ["Email receiving: add a receipt rule with the action SNS, or S3 with a topic for " +
    "email over 150 KB. Subscribe the URL to the topic by HTTPS."]:
    "Email receiving: eine Receipt Rule mit der Aktion SNS anlegen, oder S3 mit einem " +
    "Topic für E-Mails über 150 KB. Die URL per HTTPS beim Topic anmelden.",
  "Domains that Google shows": "Domains, die Google zeigt",
  "Email that passes DMARC": "E-Mails, die DMARC bestehen",
  "Email that was read": "Gelesene E-Mails",
  "Email to the old URLs is refused, until you enter the new ones at your providers.":
    "E-Mails an die alten URLs werden abgelehnt, bis Sie die neuen bei Ihren Anbietern eintragen.",
  "Emails a day to Gmail": "E-Mails am Tag an Gmail",
  "Domain of tracked links (optional)": "Domain der Tracking-Links (optional)",
  "Emails are sent with what you save.": "E-Mails werden mit dem gesendet, was Sie speichern.",
  "Emails at most (optional)": "Höchstens E-Mails (optional)",
  "Emails per connection": "E-Mails je Verbindung",
  Emoji: "Emoji",
  "Empty keeps it, unless server or user change.":
    "Leer behält es, außer wenn sich Server oder Benutzer ändern.",
  "Enable the <a>Gmail Postmaster Tools API</a> in it.":
    "Aktivieren Sie darin die <a>Gmail Postmaster Tools API</a>.",
  "Encrypted (TLS)": "Verschlüsselt (TLS)",
  Encryption: "Verschlüsselung",
  "Encryption of received email (MTA-STS)": "Verschlüsselung empfangener E-Mails (MTA-STS)",
  "Encrypted messages, which a page shows until they expire":
    "Verschlüsselte Nachrichten, die eine Seite zeigt, bis sie ablaufen",
  "Enter an address of the domain below, and as “Replies to” of the site.":
    "Eine Adresse der Domain unten eintragen, und als „Antworten an“ der Website.",
  "Enter the password again, because the server or user has changed.":
    "Geben Sie das Passwort erneut ein, weil sich Server oder Benutzer geändert haben.",
  "Everybody who has the link can read the message.":
    "Alle, die den Link haben, können die Nachricht lesen.",
  "Everybody who sees the inbox can read it. It is not encrypted.":
    "Alle, die das Postfach sehen, können ihn lesen. Er ist nicht verschlüsselt.",
  Faces: "Gesichter",
  "First failure: {ago}.": "Erster Fehler: {ago}.",
  "Field {label}": "Feld {label}",
  "Field {label}, or else “{fallback}”": "Feld {label}, sonst „{fallback}“",
  "Figures are pulled": "Zahlen werden abgerufen",
  "Filtered contacts are sorted by address. Other orders would need all to be read.":
    "Gefilterte werden nach Adresse sortiert. Für andere müssten alle gelesen werden.",
  Fine: "In Ordnung",
  "Folder for email that was read": "Ordner für gelesene E-Mails",
  Food: "Essen",
  ["Gmail and Yahoo require the first ones of everybody who sends much. Complaints are " +
    "those of the last 30 days in all your sites."]:
    "Gmail und Yahoo verlangen die ersten von allen, die viel senden. Beschwerden sind " +
    "die der letzten 30 Tage in allen Ihren Websites.",
  "Forward email of people to (optional)": "E-Mails von Menschen weiterleiten an (optional)",
  "Gmail and others want an app password.": "Gmail und andere verlangen ein App-Passwort.",
  ["Gmail has no figures. It shows those of a day only if enough email went to its users, " +
    "and does not say how much that is. A day appears here about two days later."]:
    "Gmail hat keine Zahlen. Es zeigt die eines Tages nur, wenn genug E-Mails an seine Nutzer " +
    "gingen, und sagt nicht, wie viele das sind. Ein Tag erscheint hier etwa zwei Tage später.",
  ["Gmail reports no single complaints. Google Postmaster Tools shows how many of its users " +
    "report your email as spam."]:
    "Gmail meldet keine einzelnen Beschwerden. Google Postmaster Tools zeigt, wie viele " +
    "seiner Nutzer Ihre E-Mails als Spam melden.",
  "Gmail's figures of the last 30 days": "Zahlen von Gmail der letzten 30 Tage",
  "Google Postmaster Tools": "Google Postmaster Tools",
  ["Google Postmaster Tools shows how many Gmail users report your email as spam, and how " +
    "much of it is authenticated, encrypted and refused. The figures are pulled once a day."]:
    "Google Postmaster Tools zeigt, wie viele Nutzer von Gmail Ihre E-Mails als Spam melden " +
    "und welcher Teil authentifiziert, verschlüsselt und abgelehnt wird. Die Zahlen werden " +
    "einmal am Tag abgerufen.",
  "Google did not respond: {reason}": "Google hat nicht geantwortet: {reason}",
  "Google does not know this key any more. Create a new one. Google says: {reason}":
    "Google kennt diesen Schlüssel nicht mehr. Erstellen Sie einen neuen. Google sagt: {reason}",
  "Google does not show it": "Google zeigt sie nicht",
  "Google does not show this domain to your service account.":
    "Google zeigt Ihrem Dienstkonto diese Domain nicht.",
  "Google refused: {reason}": "Google hat abgelehnt: {reason}",
  "Google shows no domain to the account.": "Google zeigt dem Konto keine Domain.",
  Gray: "Grau",
  Green: "Grün",
  Grid: "Kacheln",
  "IMAP server": "IMAP-Server",
  "If it is empty, write": "Wenn es leer ist, steht dort",
  ["In <a>Postmaster Tools</a>, add your domains. Choose “Manage users” of each, and add the " +
    "address of the service account as a user. Reading is enough."]:
    "Fügen Sie in den <a>Postmaster Tools</a> Ihre Domains hinzu. Wählen Sie bei jeder " +
    "„Nutzer verwalten“, und fügen Sie die Adresse des Dienstkontos als Nutzer hinzu. Lesen " +
    "genügt.",
  "In the Google Cloud console, <a>create a project</a> or choose one.":
    "Legen Sie in der Google-Cloud-Konsole <a>ein Projekt an</a>, oder wählen Sie eines.",
  Inbound: "Eingang",
  "Inbound stream of the server, Settings: enter the URL as webhook.":
    "Inbound-Stream des Servers, Settings: die URL als Webhook eintragen.",
  "Inbound, your domain: add a route for * with the URL.":
    "Inbound, Ihre Domain: eine Route für * mit der URL hinzufügen.",
  "Insert a field: {label}": "Feld einfügen: {label}",
  "Insert an emoji": "Emoji einfügen",
  "Insert an emoji: {label}": "Emoji einfügen: {label}",
  "It begins with md-. A test key accepts emails and delivers none.":
    "Er beginnt mit md-. Ein Testschlüssel nimmt E-Mails an und stellt keine zu.",
  "It belongs to the API key.": "Er gehört zum API-Schlüssel.",
  "It is stored encrypted and not shown again.":
    "Er wird verschlüsselt gespeichert und nicht mehr gezeigt.",
  "It must exist.": "Er muss vorhanden sein.",
  "Its name, such as smtp.example.com.": "Sein Name, etwa smtp.example.com.",
  "Its content is deleted, and its link shows nothing any more. This cannot be undone.":
    "Ihr Inhalt wird gelöscht, ihr Link zeigt nichts mehr. Das ist nicht umkehrbar.",
  "Its part in percent": "Sein Anteil in Prozent",
  "Its recipient gets a link to a page that shows it. You see here if it was opened.":
    "Der Link darin führt zu einer Seite, die sie zeigt. Hier sehen Sie, ob sie geöffnet wurde.",
  "Keep it as it is": "Lassen, wie sie ist",
  "Keep reports of spam below {goal}. From {refusal} on, Gmail may refuse your email.":
    "Halten Sie Spam-Meldungen unter {goal}. Ab {refusal} lehnt Gmail Ihre E-Mails womöglich ab.",
  "Keep writing": "Weiterschreiben",
  "Key of the service account (JSON)": "Schlüssel des Dienstkontos (JSON)",
  Last: "Zuletzt",
  "Last pull": "Letzter Abruf",
  "Leave it empty if the server needs no login.":
    "Lassen Sie das Feld leer, wenn der Server keine Anmeldung braucht.",
  "Let your mail server or program POST each email to the URL, as message/rfc822.":
    "Lassen Sie Ihren Mailserver oder Ihr Programm jede E-Mail als message/rfc822 per " +
    "POST an die URL senden.",
  "Lets tracked links and opens use your domain.":
    "Links und Öffnungen werden über Ihre Domain gemessen.",
  "Line chart: reports of spam by day, at most {highest}.":
    "Liniendiagramm: Spam-Meldungen pro Tag, höchstens {highest}.",
  "Logo (BIMI)": "Logo (BIMI)",
  ["Mail programs can then also unsubscribe by an email to it. Everything to its domain " +
    "is received."]:
    "Mailprogramme können dann auch mit einer E-Mail an sie abmelden. Alles an ihre " +
    "Domain wird empfangen.",
  "Mailbox of {email}": "Postfach von {email}",
  "Make “{name}”": "„{name}“ anlegen",
  Meaning: "Bedeutung",
  "Members of one list or tag stand in the order in which they were created.":
    "Mitglieder einer Liste oder eines Tags stehen in der Reihenfolge, in der sie angelegt wurden.",
  "More about the account": "Mehr zum Konto",
  "Move it to a folder": "In einen Ordner verschieben",
  Message: "Nachricht",
  "New figures do not come any more, because the key of Google was removed.":
    "Es kommen keine neuen Zahlen mehr, weil der Schlüssel von Google entfernt wurde.",
  "Newest first": "Neueste zuerst",
  "Message stream": "Nachrichtenstrom",
  "Next month": "Nächster Monat",
  "Next pull": "Nächster Abruf",
  "No campaign matches": "Keine Kampagne passt",
  "No colour of its own": "Keine eigene Farbe",
  "No report yet": "Noch keine Meldung",
  "Not added under Domains": "Unter Domains nicht hinzugefügt",
  "No email received yet": "Noch keine E-Mail empfangen",
  ["No report has come yet. Let a site receive email under Inbound, and publish the DMARC " +
    "records above, which then name its address."]:
    "Es ist noch kein Bericht gekommen. Lassen Sie unter Eingang eine Website E-Mails " +
    "empfangen, und veröffentlichen Sie die DMARC-Einträge oben, die dann deren Adresse " +
    "nennen.",
  "No key is stored. Your role cannot enter one.":
    "Es ist kein Schlüssel gespeichert. Ihre Rolle kann keinen eingeben.",
  "No sender uses an SMTP server.": "Kein Absender nutzt einen SMTP-Server.",
  "Not pulled yet": "Noch nicht abgerufen",
  "Not read yet": "Noch nicht gelesen",
  "Not set up": "Nicht eingerichtet",
  "Not used": "Nicht genutzt",
  "No secure message yet": "Noch keine sichere Nachricht",
  Nothing: "Nichts",
  "Nothing is planned in {month}.": "Im {month} ist nichts geplant.",
  "Nothing received yet": "Noch nichts empfangen",
  "Nothing was sent, because the address is on the suppression list.":
    "Nichts wurde gesendet, denn die Adresse steht auf der Sperrliste.",
  Numbers: "Nummerierung",
  "Of an IAM user who may ses:SendEmail and ses:GetAccount.":
    "Eines IAM-Benutzers mit den Rechten ses:SendEmail und ses:GetAccount.",
  "Of the account. Without it: global.": "Die des Kontos. Ohne Angabe: global.",
  "Of the account. Without it: us.": "Die des Kontos. Ohne Angabe: us.",
  "Of the domain. Without it: us.": "Die der Domain. Ohne Angabe: us.",
  "Of the same user.": "Desselben Benutzers.",
  Offers: "Angebote",
  "Often used": "Oft benutzt",
  "Oldest first": "Älteste zuerst",
  "One hour": "einer Stunde",
  "One second": "einer Sekunde",
  "Suppression list of the provider": "Sperrliste des Anbieters",
  "The list of {provider} is read every day, the last time {time}.":
    "Die Liste von {provider} wird täglich gelesen, zuletzt {time}.",
  "The list of {provider} is read within a few minutes, and every day from then on.":
    "Die Liste von {provider} wird in wenigen Minuten gelesen, und von da an täglich.",
  "What Gmail counts about your domains": "Was Gmail über Ihre Domains zählt",
  "gmail spam rate service account key": "gmail spamrate dienstkonto schlüssel",
  "{day}, highest {worst}": "{day}, höchstens {worst}",
  "{day}, lowest {worst}": "{day}, mindestens {worst}",
  "One-click unsubscribe": "Abmeldung mit einem Klick",
  "Only SendGrid, Mailgun, SparkPost, Mandrill and Resend sign. Empty keeps it.":
    "Nur SendGrid, Mailgun, SparkPost, Mandrill und Resend signieren. Leer behält ihn.",
  ["Open the account, then Keys, Add key, Create new key, JSON. Enter the file that Google " +
    "gives you below."]:
    "Öffnen Sie das Konto, dann Schlüssel, Schlüssel hinzufügen, Neuen Schlüssel erstellen, " +
    "JSON. Geben Sie die Datei von Google unten ein.",
  Optional: "Optional",
  "Only 500 campaigns are shown.": "Nur 500 Kampagnen werden gezeigt.",
  Orange: "Orange",
  Order: "Reihenfolge",
  "Only with temporary keys.": "Nur mit vorübergehenden Schlüsseln.",
  Others: "Andere",
  "Otherwise they refuse email to it, and report it again.":
    "Sonst nehmen sie keine E-Mails dafür an und melden sie erneut.",
  "Other email": "Andere E-Mail",
  "Over the limit": "Über der Grenze",
  "Pass rate": "Anteil bestanden",
  "Passed DKIM": "DKIM bestanden",
  "Passed DMARC": "DMARC bestanden",
  "Passed SPF": "SPF bestanden",
  "Password (stored)": "Passwort (gespeichert)",
  "Point the MX record of the domain to {mx}.": "Den MX-Eintrag der Domain auf {mx} richten.",
  Port: "Port",
  "Port (optional)": "Port (optional)",
  "Postmark calls it the account API token. Connecting adds your domain with it.":
    "Bei Postmark heißt er Account API Token. Mit ihm fügt das Verbinden Ihre Domain hinzu.",
  "Postmark calls it the server API token. It is under Servers › API Tokens.":
    "Postmark nennt ihn Server-API-Token. Er steht unter Servers › API Tokens.",
  "Proves that the domain belongs to your organization. Keep this record.":
    "Beweist, dass die Domain Ihrer Organisation gehört. Behalten Sie diesen Eintrag.",
  "Proves to {provider} that the domain is yours. Keep this record.":
    "Beweist {provider}, dass die Domain Ihnen gehört. Behalten Sie diesen Eintrag.",
  "Passphrase (optional)": "Passwort (optional)",
  "Previous month": "Voriger Monat",
  "Publish the MX record that the provider shows for the domain.":
    "Den MX-Eintrag veröffentlichen, den der Anbieter für die Domain zeigt.",
  "Pull now": "Jetzt abrufen",
  Purple: "Lila",
  "Read {ago}": "Gelesen {ago}",
  "Readable for": "Lesbar für",
  "Readable until": "Lesbar bis",
  "Receive email for {name}": "E-Mails für {name} empfangen",
  Received: "Empfangen",
  "Received emails": "Empfangene E-Mails",
  "Receives bounces, and aligns SPF with your domain.":
    "Nimmt Rückläufer entgegen und richtet SPF an Ihrer Domain aus.",
  "Receiving, Create route: forward to the URL, with &format=mime at its end.":
    "Receiving, Create route: an die URL weiterleiten, mit &format=mime am Ende.",
  "Records and reports": "Einträge und Berichte",
  Recurring: "Wiederkehrend",
  Red: "Rot",
  "Refused or delayed": "Abgelehnt oder verzögert",
  Region: "Region",
  "Remove Postmaster Tools": "Postmaster Tools entfernen",
  "Remove bounce mailbox": "Bounce-Postfach entfernen",
  "Remove the field": "Feld entfernen",
  "Remove the key": "Schlüssel entfernen",
  "Remove the signing key": "Signaturschlüssel entfernen",
  "Replace the URLs": "URLs ersetzen",
  "Replace the key": "Schlüssel ersetzen",
  "Replies and other email that your sites received":
    "Antworten und andere E-Mails, die Ihre Websites empfangen haben",
  Reply: "Antwort",
  "Report about a domain": "Bericht über eine Domain",
  "Reported by": "Gemeldet von",
  "Reports: {number}": "Berichte: {number}",
  "SMTP server": "SMTP-Server",
  "Revoke message": "Nachricht widerrufen",
  "Revoke the message to {toEmail}": "Die Nachricht an {toEmail} widerrufen",
  Revoked: "Widerrufen",
  STARTTLS: "STARTTLS",
  "Search campaigns": "Kampagnen suchen",
  Seasons: "Jahreszeiten",
  "Secret access key": "Geheimer Zugriffsschlüssel",
  "Sending domain": "Versanddomain",
  "Secure message": "Sichere Nachricht",
  "Secure messages": "Sichere Nachrichten",
  "Send message": "Nachricht senden",
  "Sent and answered": "Gesendet und geantwortet",
  "Sent to spam": "Im Spam-Ordner",
  Server: "Server",
  "Service account": "Dienstkonto",
  "Session token": "Sitzungstoken",
  Set: "Übernehmen",
  "Set up how your sites receive email": "Einrichten, wie Ihre Websites E-Mails empfangen",
  ["Settings, Inbound Parse: add your domain with the URL, and turn on “POST the raw, " +
    "full MIME message”."]:
    "Settings, Inbound Parse: Domain mit der URL hinzufügen und „POST the raw, full MIME " +
    "message“ einschalten.",
  "Show the steps": "Schritte zeigen",
  "Share with (optional)": "Teilen mit (optional)",
  "Signing key of the provider (optional)": "Signaturschlüssel des Anbieters (optional)",
  "Signing key of the provider (stored)": "Signaturschlüssel des Anbieters (gespeichert)",
  Signs: "Zeichen",
  Sources: "Quellen",
  Space: "Abstand",
  Speed: "Tempo",
  "Started {time}": "Begonnen {time}",
  "Starts {time}": "Beginnt {time}",
  "Stop reading": "Nicht mehr lesen",
  "TLS from the start": "TLS von Anfang an",
  "TLS reports": "TLS-Berichte",
  "TLS reports of the last 30 days": "TLS-Berichte der letzten 30 Tage",
  "Takes a part of the email of campaigns and sequences, such as to try it.":
    "Übernimmt einen Teil der E-Mails von Kampagnen und Automationen, etwa um ihn auszuprobieren.",
  "Tell it to the recipient in another way, such as by phone.":
    "Teilen Sie es auf anderem Weg mit, etwa am Telefon.",
  "Text colour": "Textfarbe",
  "The SMTP server accepts the login.": "Der SMTP-Server nimmt die Anmeldung an.",
  "The bounce mailbox cannot be read: {detail}":
    "Das Bounce-Postfach kann nicht gelesen werden: {detail}",
  ["The Gmail Postmaster Tools API is not enabled in the account's project. Enable it, wait " +
    "some minutes, and try again."]:
    "Die Gmail Postmaster Tools API ist im Projekt des Kontos nicht aktiviert. Aktivieren Sie " +
    "sie, warten Sie einige Minuten, und versuchen Sie es noch einmal.",
  "The account may not act for this user. Delegate both scopes to it. Google says: {reason}":
    "Das Konto darf nicht für diesen Nutzer handeln. Delegieren Sie beide Bereiche an das " +
    "Konto. Google sagt: {reason}",
  "The email has further languages. Their texts are in the editor.":
    "Die E-Mail hat weitere Sprachen. Deren Texte stehen im Editor.",
  "The figures are being pulled from Google.": "Die Zahlen werden gerade bei Google abgerufen.",
  "The file is empty.": "Die Datei ist leer.",
  "The folder could not be opened: {reason}": "Der Ordner konnte nicht geöffnet werden: {reason}",
  "The key in this file is damaged. Create a new JSON key at Google, and enter it.":
    "Der Schlüssel in dieser Datei ist beschädigt. Erstellen Sie bei Google einen neuen " +
    "JSON-Schlüssel, und geben Sie ihn ein.",
  "The key of the account, or the sending key of the domain.":
    "Der Schlüssel des Kontos oder der Versandschlüssel der Domain.",
  "The key of {email} is deleted, and no figures are pulled any more. Old ones stay.":
    "Der Schlüssel von {email} wird gelöscht, und es werden keine Zahlen mehr abgerufen. Alte " +
    "bleiben.",
  "The last email came {ago}, from {email}.": "Die letzte E-Mail kam {ago}, von {email}.",
  "The one whose SNS topic gets the events.": "Der, dessen SNS-Thema die Ereignisse erhält.",
  "The message to {email} is on its way.": "Die Nachricht an {email} ist unterwegs.",
  "The page behind the link asks for the passphrase.":
    "Die Seite hinter dem Link fragt nach dem Passwort.",
  "The recipient": "Die Empfängerin oder der Empfänger",
  "The server could not be reached: {reason}": "Der Server ist nicht erreichbar: {reason}",
  "The server failed to return an email: {reason}":
    "Der Server hat eine E-Mail nicht geliefert: {reason}",
  "The server refused the login: {reason}": "Der Server hat die Anmeldung abgelehnt: {reason}",
  "The service must not connect to the address of this server.":
    "Der Dienst darf sich nicht mit der Adresse dieses Servers verbinden.",
  "There is no sequence.": "Es gibt keine Automation.",
  "They would show an empty place instead.": "Sie würden stattdessen eine leere Stelle zeigen.",
  "This file is too large to be a key.": "Diese Datei ist zu groß für einen Schlüssel.",
  "This is an Excel file. Save it as CSV, or copy its cells and paste them here.":
    "Das ist eine Excel-Datei. Speichern Sie sie als CSV, oder fügen Sie die Zellen hier ein.",
  "This email has no plain text": "Diese E-Mail hat keinen reinen Text",
  "This is not the key of a service account. Enter the whole JSON file that Google gave you.":
    "Das ist nicht der Schlüssel eines Dienstkontos. Geben Sie die ganze JSON-Datei von " +
    "Google ein.",
  "Times are those of {timezone}.": "Die Zeiten gelten für {timezone}.",
  ["To add a domain, choose “Manage users” of it in <a>Postmaster Tools</a>, and add the " +
    "address of the service account. Then pull now."]:
    "Um eine Domain hinzuzufügen, wählen Sie in den <a>Postmaster Tools</a> bei ihr „Nutzer " +
    "verwalten“, und fügen Sie die Adresse des Dienstkontos hinzu. Rufen Sie dann die Zahlen " +
    "ab.",
  Today: "Heute",
  "Too high": "Zu hoch",
  "Type a name to make a new list.": "Geben Sie einen Namen ein, um eine neue Liste anzulegen.",
  "Type a whole address, such as https://shop.example":
    "Geben Sie eine ganze Adresse ein, etwa https://shop.example",
  "Type the whole address, such as https://shop.example/a.png":
    "Geben Sie die ganze Adresse ein, etwa https://shop.example/a.png",
  Underline: "Unterstrichen",
  "Unencrypted, in your own network": "Unverschlüsselt, im eigenen Netz",
  "Unsubscribe link": "Abmeldelink",
  "Unsubscribed by email": "Per E-Mail abgemeldet",
  "Use a subdomain such as in.shop.example, so that your usual mailboxes stay as they are.":
    "Nehmen Sie eine Subdomain wie in.shop.example, damit Ihre üblichen Postfächer " +
    "bleiben, wie sie sind.",
  "Used by:": "Benutzt von:",
  "User for whom the account acts (optional)": "Nutzer, für den das Konto handelt (optional)",
  "Webhooks: add the URL for the event email.received.":
    "Webhooks: die URL für das Ereignis email.received hinzufügen.",
  "What happens with it": "Was damit geschieht",
  "What mailbox providers ask": "Was Postfachanbieter verlangen",
  "What you typed is not saved.": "Ihre Eingabe ist nicht gespeichert.",
  "Where the identity is verified, such as us-east-1.":
    "Wo die Identität bestätigt ist, etwa us-east-1.",
  ["With sending access. With full access, uncertain emails can be looked up. It begins with " +
    "re_."]:
    "Mit Versandzugriff. Mit vollem Zugriff lassen sich ungewisse E-Mails nachschlagen. Er " +
    "beginnt mit re_.",
  "Who receives it": "Wer sie empfängt",
  "With Google Workspace: act for a user": "Mit Google Workspace: für einen Nutzer handeln",
  "With its files, from your oldest verified sender. Answers of machines and spam are left out.":
    "Mit den Dateien, von Ihrem ältesten bestätigten Absender. Antworten von Maschinen und Spam " +
    "werden ausgelassen.",
  "With the permission Mail Send. It begins with SG.":
    "Mit der Berechtigung Mail Send. Er beginnt mit SG.",
  "With the permission Transmissions: Read/Write.":
    "Mit der Berechtigung Transmissions: Read/Write.",
  ["With the permissions /email/send and /email/batch. With /activity/search, uncertain " +
    "emails can be looked up. It begins with api-."]:
    "Mit den Berechtigungen /email/send und /email/batch. Mit /activity/search lassen sich " +
    "ungewisse E-Mails nachschlagen. Er beginnt mit api-.",
  "Without a text, the link shows its address.": "Ohne Text zeigt der Link seine Adresse.",
  "Without it: 100.": "Ohne Angabe: 100.",
  "Without it: 5.": "Ohne Angabe: 5.",
  "Without it: 587 with STARTTLS, 465 with TLS, 25 with none.":
    "Ohne Angabe: 587 bei STARTTLS, 465 bei TLS, 25 bei keiner.",
  "Without it: outbound, the stream for transactional emails.":
    "Ohne Angabe: outbound, der Strom für Transaktions-E-Mails.",
  "Without it: the address of the sender.": "Ohne Angabe: die Adresse des Absenders.",
  Working: "Funktioniert",
  "Worst of the last 7 days with figures": "Höchster Wert der letzten 7 Tage mit Zahlen",
  "Write a secure message": "Eine sichere Nachricht schreiben",
  "Write something": "Schreiben Sie etwas",
  "A copy that changes nothing else": "Eine Kopie, die sonst nichts ändert",
  "A design": "Einem Design",
  "A new draft goes to “{name}”.": "Ein neuer Entwurf geht an „{name}“.",
  "A starting design, an empty one, or code": "Einem fertigen Entwurf, einem leeren oder Code",
  "A template": "Einer Vorlage",
  "All subscribed contacts": "Alle abonnierten Kontakte",
  "All, lists, tags or segments": "Alle, Listen, Tags oder Segmente",
  "An earlier campaign": "Einer früheren Kampagne",
  "Another name, address or reply address": "Anderer Name, andere Adresse oder Antwortadresse",
  "Begin again": "Neu beginnen",
  "Begin with a template": "Mit einer Vorlage beginnen",
  "Begin with an earlier campaign": "Mit einer früheren Kampagne beginnen",
  "Choose an audience, an email and a sender first.":
    "Wählen Sie zuerst Empfängerkreis, E-Mail und Absender.",
  "Copy and edit": "Kopieren und bearbeiten",
  "Create it": "Erstellen",
  "Design the email": "E-Mail gestalten",
  "Edit email": "E-Mail bearbeiten",
  "Edit for this campaign only": "Nur für diese Kampagne bearbeiten",
  "It is sent with the template <link>{name}</link>, which others can use too.":
    "Sie wird mit der Vorlage <link>{name}</link> gesendet, die auch andere verwenden können.",
  "It takes the place of the email that the campaign has now.":
    "Sie ersetzt die E-Mail, die die Kampagne jetzt hat.",
  "Save as a template": "Als Vorlage speichern",
  "Save email": "E-Mail speichern",
  "Send a campaign": "Kampagne senden",
  "The campaign gets a copy. What you change there changes nothing else.":
    "Die Kampagne erhält eine Kopie. Was Sie darin ändern, ändert sonst nichts.",
  "That one stays in the list of versions.": "Diese bleibt in der Liste der Versionen.",
  "There is no campaign.": "Es gibt keine Kampagne.",
  "There is no template.": "Es gibt keine Vorlage.",
  "This campaign has no email of its own": "Diese Kampagne hat keine eigene E-Mail",
  "This campaign has no email that can be copied.":
    "Diese Kampagne hat keine E-Mail, die sich kopieren lässt.",
  "What does the email begin with?": "Womit beginnt die E-Mail?",
  "With its subject and its texts": "Mit ihrem Betreff und ihren Texten",
  ["Your DMARC reports go to another domain, which must agree. Add this record to the DNS of " +
    "that domain, else mailbox providers send no reports."]:
    "Ihre DMARC-Berichte gehen an eine andere Domain, die zustimmen muss. Fügen Sie diesen " +
    "Eintrag im DNS jener Domain hinzu, sonst senden die Postfach-Anbieter keine Berichte.",
  "Your own mail server or program": "Eigener Mailserver oder eigenes Programm",
  "Your provider's help names it. None is only for a relay in your own network.":
    "Die Hilfe Ihres Anbieters nennt sie. Keine ist nur für ein Relay im eigenen Netz.",
  "Your providers need nothing here.": "Ihre Anbieter brauchen hier nichts.",
  "Your host name in links that Pennymail tracks, below a verified domain.":
    "Ihr Hostname in Links, die Pennymail erfasst, unter einer bestätigten Domain.",
  "a click": "einem Klick",
  "A contact": "Ein Kontakt",
  "A contact clicks a link in an email": "Ein Kontakt klickt auf einen Link in einer E-Mail",
  "A contact does something on your site": "Ein Kontakt tut etwas auf Ihrer Website",
  "A contact enters a segment": "Ein Kontakt kommt in ein Segment",
  "A contact gets a tag": "Ein Kontakt erhält einen Tag",
  ["A contact gets the exact locale, such as Portuguese (Brazil), else the language, else " +
    "the default."]:
    "Ein Kontakt erhält die genaue Fassung, etwa Portugiesisch (Brasilien), sonst die " +
    "Sprache, sonst die Standardfassung.",
  "A contact is new": "Ein Kontakt ist neu",
  "A contact joins a list": "Ein Kontakt kommt in eine Liste",
  "A contact leaves a segment": "Ein Kontakt verlässt ein Segment",
  "A contact leaves before its next step when it":
    "Ein Kontakt geht vor seinem nächsten Schritt, wenn er",
  "A contact leaves when": "Wann ein Kontakt geht",
  "A contact opens an email": "Ein Kontakt öffnet eine E-Mail",
  "A contact reaches a lead score": "Ein Kontakt erreicht einen Punktestand",
  "A contact starts when": "Wann ein Kontakt beginnt",
  "A contact submits a form": "Ein Kontakt sendet ein Formular ein",
  "A contact unsubscribes (for work without email)":
    "Ein Kontakt meldet sich ab (für Aufgaben ohne E-Mail)",
  "A contact who comes here has completed the sequence.":
    "Ein Kontakt, der hier ankommt, hat die Automation abgeschlossen.",
  "A contact who is in it already stays at its step.":
    "Ein Kontakt, der schon darin ist, bleibt bei seinem Schritt.",
  "A contact who is not in it goes on.": "Ein Kontakt, der nicht darin ist, geht weiter.",
  "A contact without this date, or with one in the past, goes on at once.":
    "Ein Kontakt ohne dieses Datum oder mit einem vergangenen geht sofort weiter.",
  "A daily limit for campaigns and sequences that grows. Single emails always go.":
    "Ein wachsendes Tageslimit für Kampagnen und Automationen. Einzelne E-Mails gehen " +
    "immer hinaus.",
  "A date of a contact comes": "Ein Datum eines Kontakts ist erreicht",
  "A date of the contact": "Ein Datum des Kontakts",
  "A day and hour of the week": "Wochentag und Stunde",
  ["A draft of these steps was saved {updatedAt}. Contacts run through the steps below " +
    "until it is published."]:
    "Ein Entwurf dieser Schritte wurde {updatedAt} gespeichert. Bis er veröffentlicht ist, " +
    "durchlaufen Kontakte die Schritte unten.",
  "A field holds what you know of a contact, such as the plan or the shoe size.":
    "Ein Feld enthält, was Sie über einen Kontakt wissen, etwa den Tarif oder die Schuhgröße.",
  "A field of a contact changes": "Ein Feld eines Kontakts ändert sich",
  "A field of your own": "Ein eigenes Feld",
  "API keys for your programs": "API-Schlüssel für Ihre Programme",
  "Access data of the provider": "Zugangsdaten des Anbieters",
  "Add {detail} in your account at {provider}. This key cannot do it.":
    "Legen Sie {detail} in Ihrem Konto bei {provider} an. Dieser Schlüssel kann es nicht.",
  "All DNS records are there.": "Alle DNS-Einträge sind da.",
  "An authenticator app is set up already. Turn it off before you add another.":
    "Eine Authenticator-App ist schon eingerichtet. Schalten Sie sie ab, bevor Sie eine " +
    "andere hinzufügen.",
  "An SMTP server needs no more than the records below.":
    "Ein SMTP-Server braucht nur die Einträge unten.",
  "Another contact has this external id.": "Ein anderer Kontakt hat diese externe Kennung.",
  "Another organization has verified this domain. It must be deleted there first.":
    "Eine andere Organisation hat diese Domain bestätigt. Sie muss zuerst dort gelöscht werden.",
  "At most {limit} are possible.": "Höchstens {limit} sind möglich.",
  "By hand": "Von Hand",
  "Check again": "Erneut prüfen",
  "Choose a password without your name, your address and the name of this service.":
    "Wählen Sie ein Passwort ohne Ihren Namen, Ihre Adresse und den Namen dieses Dienstes.",
  "Choose a time in the future.": "Wählen Sie eine Zeit in der Zukunft.",
  "Choose a time in the past.": "Wählen Sie eine Zeit in der Vergangenheit.",
  "Choose a time within the next 30 days.": "Wählen Sie eine Zeit in den nächsten 30 Tagen.",
  "Choose a time zone, such as Europe/Berlin.":
    "Wählen Sie eine Zeitzone, zum Beispiel Europe/Berlin.",
  "Choose one of the values that are offered.": "Wählen Sie einen der angebotenen Werte.",
  "Codes by email are not turned on. Use your authenticator app or a recovery code.":
    "Codes per E-Mail sind nicht eingeschaltet. Verwenden Sie Ihre Authenticator-App oder " +
    "einen Wiederherstellungscode.",
  "Confirm your email address first: open the link that we sent you.":
    "Bestätigen Sie zuerst Ihre E-Mail-Adresse: Öffnen Sie den Link, den wir Ihnen gesendet haben.",
  "Connect everything": "Alles verbinden",
  "Correct the marked fields.": "Korrigieren Sie die markierten Felder.",
  "Domain at the provider": "Domain beim Anbieter",
  "Emails were sent from this site, so it cannot be deleted.":
    "Von dieser Website wurden E-Mails gesendet, deshalb kann sie nicht gelöscht werden.",
  "Enter a colour, such as #1f5fbf.": "Geben Sie eine Farbe ein, zum Beispiel #1f5fbf.",
  "Enter a date or time that exists.": "Geben Sie ein Datum oder eine Zeit ein, die es gibt.",
  "Enter a domain, such as shop.example.": "Geben Sie eine Domain ein, zum Beispiel shop.example.",
  "Enter a language, such as de or pt-BR.":
    "Geben Sie eine Sprache ein, zum Beispiel de oder pt-BR.",
  "Enter a number from {from} to {to}.": "Geben Sie eine Zahl von {from} bis {to} ein.",
  "Enter a number that is at least {limit}.":
    "Geben Sie eine Zahl ein, die mindestens {limit} ist.",
  "Enter a number that is at most {limit}.": "Geben Sie eine Zahl ein, die höchstens {limit} ist.",
  "Enter a number.": "Geben Sie eine Zahl ein.",
  "Enter a whole number.": "Geben Sie eine ganze Zahl ein.",
  "Enter an address that begins with https://.":
    "Geben Sie eine Adresse ein, die mit https:// beginnt.",
  "Enter an address that everybody can reach, not one of a private network.":
    "Geben Sie eine Adresse ein, die alle erreichen können, keine eines privaten Netzes.",
  "Enter an address, such as https://www.example.com.":
    "Geben Sie eine Adresse ein, zum Beispiel https://www.example.com.",
  "Enter an email address, such as ann@example.com.":
    "Geben Sie eine E-Mail-Adresse ein, zum Beispiel ann@example.com.",
  "Enter at least {limit} characters.": "Geben Sie mindestens {limit} Zeichen ein.",
  "Enter at most {limit} characters.": "Geben Sie höchstens {limit} Zeichen ein.",
  "Enter one line only.": "Geben Sie nur eine Zeile ein.",
  "Files of this type are not taken here.": "Dateien dieser Art gehen hier nicht.",
  "Fill in this field.": "Füllen Sie dieses Feld aus.",
  "First report": "Erste Meldung",
  "Guides and reference for developers": "Anleitungen und Referenz für Entwickler",
  Help: "Hilfe",
  "Links with your domain": "Links mit Ihrer Domain",
  "Marketing email must show your postal address. Enter it under Settings, Compliance.":
    "Werbe-E-Mails müssen Ihre Postanschrift zeigen. Geben Sie sie unter Einstellungen, " +
    "Compliance ein.",
  "No sender can send from this address. Add one under Settings, Senders.":
    "Kein Absender kann von dieser Adresse senden. Fügen Sie einen unter Einstellungen, " +
    "Absender hinzu.",
  "Nobody can read this message any more: it was revoked before.":
    "Niemand kann diese Nachricht mehr lesen: Sie wurde schon widerrufen.",
  "Not there yet: {detail}": "Noch nicht da: {detail}",
  "Nothing has been reported yet. Send a test email.":
    "Es wurde noch nichts gemeldet. Senden Sie eine Test-E-Mail.",
  "Or do it by hand:": "Oder von Hand:",
  "Ownership at the provider": "Besitz beim Anbieter",
  "Reports of the provider": "Meldungen des Anbieters",
  Rules: "Regeln",
  "Sender name": "Name des Absenders",
  "Set the sender address first.": "Tragen Sie zuerst die Absenderadresse ein.",
  "Show help and shortcuts": "Hilfe und Tastenkürzel zeigen",
  "Show more": "Mehr anzeigen",
  "Sign in once with single sign-on before you require it.":
    "Melden Sie sich einmal mit Single Sign-on an, bevor Sie es verlangen.",
  "Sign in with your email address and password to do this.":
    "Melden Sie sich dafür mit E-Mail-Adresse und Passwort an.",
  "Single sign-on failed.": "Single Sign-on ist fehlgeschlagen.",
  "Some variables of the email have no value.": "Einige Variablen der E-Mail haben keinen Wert.",
  "Somebody else has changed the steps meanwhile. Reload them first.":
    "Jemand anders hat die Schritte inzwischen geändert. Laden Sie sie zuerst neu.",
  "Somebody else has changed this draft meanwhile. Reload it to see the change.":
    "Jemand anders hat diesen Entwurf inzwischen geändert. Laden Sie ihn neu, um die " +
    "Änderung zu sehen.",
  "Somebody else has changed this snippet meanwhile. Reload it first.":
    "Jemand anders hat diesen Baustein inzwischen geändert. Laden Sie ihn zuerst neu.",
  "Somebody else has changed this template meanwhile. Reload it first.":
    "Jemand anders hat diese Vorlage inzwischen geändert. Laden Sie sie zuerst neu.",
  "Something between you and the service answered. Try again later.":
    "Etwas zwischen Ihnen und dem Dienst hat geantwortet. Versuchen Sie es später noch einmal.",
  "Something in the form is missing or not valid.":
    "Im Formular fehlt etwas oder ist nicht gültig.",
  "Something uses it, so it was not deleted.":
    "Es wird noch verwendet und wurde deshalb nicht gelöscht.",
  "Something went wrong here. Try again. If it fails again, report the request below.":
    "Hier ist etwas schiefgegangen. Versuchen Sie es noch einmal. Wenn es wieder nicht " +
    "geht, melden Sie die Anfrage darunter.",
  "Start again: the set-up of the authenticator app has expired.":
    "Beginnen Sie noch einmal: Die Einrichtung der Authenticator-App ist abgelaufen.",
  "That is more than one request may have. Do it in smaller parts.":
    "Das ist mehr, als auf einmal geht. Teilen Sie es auf.",
  "That is too large. Make it smaller, or do it in parts.":
    "Das ist zu groß. Verkleinern Sie es, oder teilen Sie es auf.",
  "The account at {provider} can send.": "Das Konto bei {provider} kann senden.",
  "The account cannot send. {provider} says: {detail}":
    "Das Konto kann nicht senden. {provider} meldet: {detail}",
  "The account is restricted. {provider} says: {detail}":
    "Das Konto ist eingeschränkt. {provider} meldet: {detail}",
  "The API key does not have the right to do this.": "Der API-Schlüssel hat dazu nicht das Recht.",
  "The CAPTCHA does not answer. Try again in a few minutes.":
    "Das CAPTCHA antwortet nicht. Versuchen Sie es in ein paar Minuten noch einmal.",
  "The CAPTCHA was not solved, or too long ago. Solve it again.":
    "Das CAPTCHA wurde nicht gelöst, oder vor zu langer Zeit. Lösen Sie es noch einmal.",
  "The campaign has the largest number of variants. Delete one first.":
    "Die Kampagne hat die größte Zahl von Varianten. Löschen Sie zuerst eine.",
  "The campaign is in another state by now. Reload the page to see it.":
    "Die Kampagne hat inzwischen einen anderen Stand. Laden Sie die Seite neu, um ihn zu sehen.",
  "The card was declined. Add another one under Billing.":
    "Die Karte wurde abgelehnt. Fügen Sie unter Abrechnung eine andere hinzu.",
  "The code is wrong or has expired. Enter the newest one.":
    "Der Code ist falsch oder abgelaufen. Geben Sie den neuesten ein.",
  "The console and the service do not fit together. Reload the page.":
    "Die Konsole und der Dienst passen nicht zusammen. Laden Sie die Seite neu.",
  "The console was opened at an address that this installation does not know.":
    "Die Konsole wurde unter einer Adresse geöffnet, die diese Installation nicht kennt.",
  "The domain cannot be used: {detail}": "Die Domain kann nicht verwendet werden: {detail}",
  "The domain was added at {provider}. Publish the DNS records below.":
    "Die Domain wurde bei {provider} angelegt. Veröffentlichen Sie die DNS-Einträge unten.",
  "The email address or the password is wrong.": "Die E-Mail-Adresse oder das Passwort ist falsch.",
  "The emails of this month are used up. Buy credits, or choose a larger plan.":
    "Die E-Mails dieses Monats sind aufgebraucht. Kaufen Sie Guthaben, oder wählen Sie " +
    "einen größeren Tarif.",
  "The feed could not be read.": "Der Feed konnte nicht gelesen werden.",
  "The file could not be read. Choose exactly one file.":
    "Die Datei konnte nicht gelesen werden. Wählen Sie genau eine Datei.",
  "The file is not valid CSV.": "Die Datei ist kein gültiges CSV.",
  "The history of a merged contact is still moving. Try again in a moment.":
    "Der Verlauf eines zusammengeführten Kontakts wird noch übertragen. Versuchen Sie es " +
    "gleich noch einmal.",
  "The key may not do this. Allow it at {provider}, or do it by hand: {detail}":
    "Der Schlüssel darf das nicht. Erlauben Sie es bei {provider}, oder erledigen Sie es von " +
    "Hand: {detail}",
  "The link was used before or has expired. Ask for a new one.":
    "Der Link wurde schon verwendet oder ist abgelaufen. Fordern Sie einen neuen an.",
  "The passphrase is wrong.": "Die Passphrase ist falsch.",
  "The password is wrong.": "Das Passwort ist falsch.",
  "The provider does not answer. Try again later.":
    "Der Anbieter antwortet nicht. Versuchen Sie es später noch einmal.",
  "The provider refused this.": "Der Anbieter hat das abgelehnt.",
  "The quota at {provider} is used up: {detail}":
    "Das Kontingent bei {provider} ist aufgebraucht: {detail}",
  "The reports of {provider} were corrected.": "Die Meldungen von {provider} wurden berichtigt.",
  "The same request is still running. Wait a moment.":
    "Dieselbe Anfrage läuft noch. Warten Sie einen Moment.",
  "The sequence is archived. Open it again before you add people.":
    "Die Automation ist archiviert. Öffnen Sie sie wieder, bevor Sie Personen hinzufügen.",
  "The service cannot be reached. Check your connection and try again.":
    "Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
  "The service did not answer in time. Look whether it was done before you try again.":
    "Der Dienst hat nicht rechtzeitig geantwortet. Sehen Sie nach, ob es geschehen ist, " +
    "bevor Sie es noch einmal versuchen.",
  "The service is busy or a part of it is down. Try again in a moment.":
    "Der Dienst ist überlastet oder ein Teil davon ausgefallen. Versuchen Sie es gleich " +
    "noch einmal.",
  "The signature is not valid.": "Die Signatur ist nicht gültig.",
  "The snippet would contain itself.": "Der Baustein würde sich selbst enthalten.",
  "The subscription is not confirmed yet. Check again in a minute.":
    "Das Abonnement ist noch nicht bestätigt. Prüfen Sie in einer Minute erneut.",
  "The text has characters that cannot be stored.":
    "Der Text hat Zeichen, die nicht gespeichert werden können.",
  "There is a contact with this address already.":
    "Es gibt schon einen Kontakt mit dieser Adresse.",
  "There is a list with this name already. Use it, or choose another name.":
    "Es gibt schon eine Liste mit diesem Namen. Verwenden Sie sie, oder wählen Sie einen " +
    "anderen Namen.",
  "There is a snippet with this name already. Choose another name.":
    "Es gibt schon einen Baustein mit diesem Namen. Wählen Sie einen anderen.",
  "There is a tag with this name already. Use it, or choose another name.":
    "Es gibt schon ein Tag mit diesem Namen. Verwenden Sie es, oder wählen Sie einen " +
    "anderen Namen.",
  "There is a topic with this name already. Use it, or choose another name.":
    "Es gibt schon ein Thema mit diesem Namen. Verwenden Sie es, oder wählen Sie einen " +
    "anderen Namen.",
  "There is a webhook with this address already.":
    "Es gibt schon einen Webhook mit dieser Adresse.",
  "There is an account with this address already. Sign in, or reset the password.":
    "Es gibt schon ein Konto mit dieser Adresse. Melden Sie sich an, oder setzen Sie das " +
    "Passwort zurück.",
  "There is no subscription yet. Choose a plan and pay for it first.":
    "Es gibt noch kein Abonnement. Wählen und bezahlen Sie zuerst einen Tarif.",
  "There is no subscription.": "Es gibt kein Abonnement.",
  "This campaign still sends. Cancel it first, and delete it after its last email.":
    "Diese Kampagne sendet noch. Brechen Sie sie zuerst ab, und löschen Sie " +
    "sie nach der letzten E-Mail.",
  "This campaign was sent again to these people already.":
    "Diese Kampagne wurde diesen Personen schon noch einmal gesendet.",
  "This contact does not wait for a confirmation.": "Dieser Kontakt wartet auf keine Bestätigung.",
  "This contact was merged into another one.":
    "Dieser Kontakt wurde mit einem anderen zusammengeführt.",
  "This does not exist any more. Somebody may have deleted it.":
    "Das gibt es nicht mehr. Vielleicht hat es jemand gelöscht.",
  "This form takes no entries now. Switch it on first.":
    "Dieses Formular nimmt gerade nichts an. Schalten Sie es zuerst ein.",
  "This has characters that are not allowed here.":
    "Darin sind Zeichen, die hier nicht erlaubt sind.",
  "This holiday email is being sent. Cancel it first.":
    "Diese Feiertags-E-Mail wird gerade gesendet. Brechen Sie sie zuerst ab.",
  "This installation takes no new organizations. Ask for an invitation.":
    "Diese Installation nimmt keine neuen Organisationen an. Bitten Sie um eine Einladung.",
  "This is not possible in the present state. Reload the page to see what changed.":
    "Das geht im jetzigen Zustand nicht. Laden Sie die Seite neu, um zu sehen, was sich " +
    "geändert hat.",
  "This is not set up on this installation. Ask the person who operates it.":
    "Das ist auf dieser Installation nicht eingerichtet. Fragen Sie die Person, die sie betreibt.",
  "This is the only owner. Make somebody else an owner first.":
    "Das ist die einzige Person mit der Rolle Inhaber. Geben Sie die Rolle zuerst noch jemandem.",
  "This person has an invitation already. Send it again from the list.":
    "Diese Person hat schon eine Einladung. Senden Sie sie in der Liste noch einmal.",
  "This person is a member already. Change the role in the list of members.":
    "Diese Person ist schon Mitglied. Ändern Sie ihre Rolle in der Liste der Mitglieder.",
  "This site has the largest number of scoring rules. Delete one first.":
    "Diese Website hat die größte Zahl von Bewertungsregeln. Löschen Sie zuerst eine.",
  "This site was deleted.": "Diese Website wurde gelöscht.",
  "This value is not possible here.": "Dieser Wert ist hier nicht möglich.",
  "This value is not possible here. The reason: {message}":
    "Dieser Wert ist hier nicht möglich. Der Grund: {message}",
  "This was tried before with other values. Reload the page and try again.":
    "Das wurde schon mit anderen Werten versucht. Laden Sie die Seite neu und versuchen Sie " +
    "es noch einmal.",
  "Time of sending": "Zeit des Versands",
  "Too many attempts in a short time. Wait a minute and try again.":
    "Zu viele Versuche in kurzer Zeit. Warten Sie eine Minute und versuchen Sie es noch einmal.",
  "Too many changes were made at the same time. Try again in a moment.":
    "Zu viele Änderungen wurden gleichzeitig gemacht. Versuchen Sie es gleich noch einmal.",
  "Too many emails were charged at the same time. Try again in a moment.":
    "Zu viele E-Mails wurden gleichzeitig abgerechnet. Versuchen Sie es gleich noch einmal.",
  "Turn on a second step for signing in first.":
    "Schalten Sie zuerst einen zweiten Schritt für die Anmeldung ein.",
  "Verify this domain under Domains first.": "Bestätigen Sie diese Domain zuerst unter Domains.",
  "What each error code means": "Was jeder Fehlercode bedeutet",
  "You are not a member of an organization. Ask somebody to invite you.":
    "Sie sind in keiner Organisation Mitglied. Bitten Sie jemanden um eine Einladung.",
  "You are not allowed to do this. Ask an owner or admin of your organization.":
    "Das dürfen Sie nicht. Fragen Sie jemanden, der Ihre Organisation verwaltet.",
  "You are offline. What you save now is sent when the network is back.":
    "Sie sind offline. Was Sie jetzt speichern, wird gesendet, wenn das Netz zurück ist.",
  "You are signed out. Sign in again.": "Sie sind abgemeldet. Melden Sie sich wieder an.",
  "You have 10,000 of these, which is the limit. Delete some that nobody uses.":
    "Davon gibt es schon 10.000, mehr gehen nicht. Löschen Sie einige, die niemand verwendet.",
  "You have a subscription already. Change its plan.":
    "Sie haben schon ein Abonnement. Ändern Sie dessen Tarif.",
  "You have no access to this site.": "Sie haben keinen Zugriff auf diese Website.",
  "You have this plan already.": "Diesen Tarif haben Sie schon.",
  "You signed in more than 10 minutes ago. Enter your password, too.":
    "Sie haben sich vor mehr als 10 Minuten angemeldet. Geben Sie auch Ihr Passwort ein.",
  "You signed in with single sign-on. Sign in with your password to do this.":
    "Sie haben sich mit Single Sign-on angemeldet. Melden Sie sich dafür mit Ihrem Passwort an.",
  "Your email address is confirmed already.": "Ihre E-Mail-Adresse ist schon bestätigt.",
  "Your organization requires single sign-on.": "Ihre Organisation verlangt Single Sign-on.",
  "Your plan changed meanwhile. Look at the new price and confirm it again.":
    "Ihr Tarif hat sich inzwischen geändert. Sehen Sie sich den neuen Preis an und " +
    "bestätigen Sie ihn noch einmal.",
  "a form": "ein Formular",
  ["A form adds visitors to your contacts. It has a page of its own, and a line of code " +
    "puts it into yours."]:
    "Ein Formular macht Besucher zu Kontakten. Es hat eine eigene Seite, und eine Zeile " +
    "Code fügt es in Ihre ein.",
  ["A full mailbox is a soft bounce. It stops marketing email until an email is delivered " +
    "or 30 days are over. Without a number, the first one suppresses."]:
    "Ein volles Postfach ist ein Soft Bounce. Er hält Marketing-E-Mails zurück, bis eine E-Mail " +
    "zugestellt wird, oder 30 Tage lang. Ohne Zahl sperrt schon der erste.",
  "A heading": "Eine Überschrift",
  "A heading, a text and a footer": "Überschrift, Text und Fußzeile",
  "A headline worth opening": "Eine Überschrift, die neugierig macht",
  "A legal notice cannot recur.": "Ein rechtlicher Hinweis kann nicht wiederkehren.",
  "A letter, then letters, digits, dashes and underscores":
    "Ein Buchstabe, dann Buchstaben, Ziffern, Bindestriche und Unterstriche",
  ["A list is a set of contacts, such as the readers of a newsletter. Imports and forms " +
    "can fill it, and a campaign can go to it."]:
    "Eine Liste ist eine Gruppe von Kontakten, etwa die Leser eines Newsletters. Importe " +
    "und Formulare können sie füllen, und eine Kampagne kann an sie gehen.",
  "A machine, by {provider}": "Automatisch, über {provider}",
  "A made-up person": "Eine erfundene Person",
  "A main story and two short ones": "Eine große Geschichte und zwei kurze",
  "a member of your organization": "ein Mitglied Ihrer Organisation",
  "A month": "Pro Monat",
  "A name and a value in each line. Most campaigns need none.":
    "Ein Name und ein Wert pro Zeile. Die meisten Kampagnen brauchen keine.",
  "A name and a value in each line. The template shows them as {{ name }}.":
    "Ein Name und ein Wert pro Zeile. Die Vorlage zeigt sie als {{ name }}.",
  "A negative number subtracts.": "Eine negative Zahl wird abgezogen.",
  "A negative number takes points away.": "Eine negative Zahl zieht Punkte ab.",
  "A negative number takes points off.": "Eine negative Zahl zieht Punkte ab.",
  "A new field": "Neues Feld",
  "A new link is on its way to {email}.": "Ein neuer Link ist unterwegs an {email}.",
  "A new link is on its way to {email}. It works for 7 days.":
    "Ein neuer Link ist unterwegs an {email}. Er gilt 7 Tage.",
  "A number or a list.": "Eine Zahl oder eine Liste.",
  "A page with the campaigns that you show there, and an RSS feed.":
    "Eine Seite mit den Kampagnen, die Sie dort zeigen, und ein RSS-Feed.",
  "A page without fields of a contact and without personal links.":
    "Eine Seite ohne Felder eines Kontakts und ohne persönliche Links.",
  "A part of the audience. The others get the best variant.":
    "Ein Teil des Empfängerkreises. Die übrigen erhalten die beste Variante.",
  "A problem that is solved": "Ein behobenes Problem",
  "A quarter": "Ein Viertel",
  "a request of your organization": "eine Anfrage Ihrer Organisation",
  ["A rule gives points for an act: 5 for a click, 20 for a visit of your prices. The sum " +
    "shows who is close to buying."]:
    "Eine Regel vergibt Punkte für eine Handlung: 5 für einen Klick, 20 für einen Besuch " +
    "Ihrer Preisseite. Die Summe zeigt, wer kurz vor dem Kauf steht.",
  "A second story": "Eine zweite Geschichte",
  ["A segment finds contacts by rules, such as “has the tag customer and opened nothing " +
    "for 90 days”. It is always up to date."]:
    "Ein Segment findet Kontakte nach Regeln, etwa „hat den Tag Kunde und hat 90 Tage " +
    "nichts geöffnet“. Es ist immer aktuell.",
  "a sender": "ein Absender",
  "A sender is an address with the provider that sends its email.":
    "Ein Absender ist eine Adresse mit dem Anbieter, der ihre E-Mails sendet.",
  ["A sequence welcomes new contacts, reminds of a full cart or wins people back: emails, " +
    "waits and branches that each contact passes at their own time."]:
    "Eine Automation begrüßt neue Kontakte, erinnert an einen vollen Warenkorb oder " +
    "gewinnt Kunden zurück: E-Mails, Wartezeiten und Verzweigungen, die jeder Kontakt in " +
    "seinem Tempo durchläuft.",
  "A site is a brand with its own audience, forms and emails.":
    "Eine Website ist eine Marke mit eigenem Empfängerkreis, eigenen Formularen und E-Mails.",
  "A smaller improvement": "Eine kleinere Verbesserung",
  ["A snippet is a piece such as a header or a signature. When you change it, every " +
    "email that has it changes too."]:
    "Ein Baustein ist ein Teil wie ein Kopf oder eine Signatur. Wenn Sie ihn ändern, " +
    "ändert sich jede E-Mail, die ihn enthält.",
  "A status in the file counts more.": "Ein Status in der Datei hat Vorrang.",
  "A summary has the totals of the site, its days and its campaigns. Nobody gets one yet.":
    "Eine Zusammenfassung enthält die Summen der Website, ihre Tage und ihre Kampagnen. " +
    "Noch erhält sie niemand.",
  "A table has up to {maxColumns} columns.": "Eine Tabelle hat bis zu {maxColumns} Spalten.",
  ["A tag marks contacts that have something in common, such as “customer”. Forms and " +
    "sequences can give it, and segments can ask for it."]:
    "Ein Tag kennzeichnet Kontakte mit einer Gemeinsamkeit, etwa „Kunde“. Formulare und " +
    "Automationen können es vergeben, Segmente danach fragen.",
  "A tag that does not exist yet is made.": "Ein Tag, den es noch nicht gibt, wird angelegt.",
  "A template has at most 20": "Eine Vorlage hat höchstens 20",
  "A template is the content of an email, with fields that each recipient fills.":
    "Eine Vorlage ist der Inhalt einer E-Mail, mit Feldern, die sich für jeden Empfänger " +
    "füllen.",
  "A template with the link {{ confirmUrl }}. Without one: our text.":
    "Eine Vorlage mit dem Link {{ confirmUrl }}. Ohne Vorlage: unser Text.",
  "A test needs two variants.": "Ein Test braucht zwei Varianten.",
  "A thin line.": "Eine dünne Linie.",
  "A tint of the accent sets a note apart.": "Ein Hauch der Akzentfarbe hebt einen Hinweis hervor.",
  ["A topic is a kind of email, such as a newsletter, that contacts can leave without " +
    "leaving the others. This report says how many do."]:
    "Ein Thema ist eine Art von E-Mail, etwa ein Newsletter, die Kontakte abbestellen " +
    "können, ohne die anderen zu verlieren. Dieser Bericht zeigt, wie viele das tun.",
  "A webhook calls your program when an email bounces, a form is submitted and so on.":
    "Ein Webhook ruft Ihr Programm auf, wenn eine E-Mail unzustellbar ist, ein Formular " +
    "eingesendet wird und so weiter.",
  ["About {percent} % get the {variants} variants first. After {duration}, the others get " +
    "the one with the most {measure, select, open {opens} click {clicks} other {conversions}}."]:
    "Etwa {percent} % erhalten zuerst die {variants} Varianten. Die übrigen erhalten " +
    "{duration} später die mit den meisten {measure, select, open {Öffnungen} click {Klicks} " +
    "other {Conversions}}.",
  Accent: "Akzent",
  "Accent: buttons and links": "Akzent: Buttons und Links",
  "Accept invitation": "Einladung annehmen",
  Accepted: "Angenommen",
  "Accepted by the provider": "Vom Anbieter angenommen",
  Access: "Zugriff",
  Account: "Konto",
  "Account settings › Event notifications": "Account settings › Event notifications",
  Action: "Aktion",
  "Action on many contacts": "Aktion für viele Kontakte",
  Actions: "Aktionen",
  "Actions for {name}": "Aktionen für {name}",
  "Activate sequence": "Automation aktivieren",
  Active: "Aktiv",
  "Active sequences would pause, and scheduled campaigns would become drafts again.":
    "Aktive Automationen würden pausieren, und geplante Kampagnen würden wieder zu Entwürfen.",
  "Active: takes submissions": "Aktiv: nimmt Einsendungen an",
  Add: "Hinzufügen",
  "Add a block at the end": "Block am Ende hinzufügen",
  "Add a block at the end of column {number}": "Block am Ende von Spalte {number} hinzufügen",
  "Add a block before {name}": "Block vor {name} hinzufügen",
  "Add a condition": "Bedingung hinzufügen",
  "Add a condition.": "Fügen Sie eine Bedingung hinzu.",
  "Add a contact": "Kontakt hinzufügen",
  "Add a language": "Sprache hinzufügen",
  "Add a link": "Link hinzufügen",
  "Add a postal address for the footer": "Postanschrift für die Fußzeile hinzufügen",
  "Add a sender": "Einen Absender hinzufügen",
  "Add a site first.": "Fügen Sie zuerst eine Website hinzu.",
  "Add a step after step {number}": "Schritt nach Schritt {number} hinzufügen",
  "Add a step after step {number}, branch {branch}":
    "Schritt nach Schritt {number}, Zweig {branch}, hinzufügen",
  "Add a step at the start": "Schritt am Anfang hinzufügen",
  "Add a step before step {number}": "Schritt vor Schritt {number} hinzufügen",
  "Add a tag": "Tag hinzufügen",
  "Add a variant": "Variante hinzufügen",
  "Add address": "Adresse hinzufügen",
  "Add an address": "Eine Adresse hinzufügen",
  "Add an image": "Bild hinzufügen",
  "Add condition": "Bedingung hinzufügen",
  "Add contact": "Kontakt hinzufügen",
  "Add contacts": "Kontakte hinzufügen",
  "Add contacts from your systems": "Kontakte aus Ihren Systemen hinzufügen",
  "Add contacts to “{name}”": "Kontakte zu „{name}“ hinzufügen",
  "Add custom field": "Eigenes Feld hinzufügen",
  "Add exit": "Ausstieg hinzufügen",
  "Add field": "Feld hinzufügen",
  "Add goal": "Ziel hinzufügen",
  "Add group": "Gruppe hinzufügen",
  "Add new contacts and change known ones": "Neue Kontakte hinzufügen und bekannte ändern",
  "Add only people who agreed to get your email.":
    "Fügen Sie nur Personen hinzu, die Ihren E-Mails zugestimmt haben.",
  "Add picture": "Bild hinzufügen",
  "Add sender": "Absender hinzufügen",
  "Add site": "Website hinzufügen",
  "Add step": "Schritt hinzufügen",
  "Add summary": "Zusammenfassung hinzufügen",
  "Add tag": "Tag hinzufügen",
  "Add the tag {tag}": "Tag {tag} hinzufügen",
  ["Add these records where the DNS of {domain} is managed. This page looks for them " +
    "every 10 seconds; DNS itself can take an hour."]:
    "Tragen Sie diese Einträge dort ein, wo das DNS von {domain} verwaltet wird. Diese " +
    "Seite prüft sie alle 10 Sekunden; das DNS selbst kann eine Stunde brauchen.",
  "Add to a field": "Zu einem Feld hinzufügen",
  "Add to a list": "Zu einer Liste hinzufügen",
  "Add to a list (optional)": "Zu einer Liste hinzufügen (optional)",
  "Add to list": "Zur Liste hinzufügen",
  "Add to the list {list}": "Zur Liste {list} hinzufügen",
  "Add way {way}": "Weg {way} hinzufügen",
  "Add webhook": "Webhook hinzufügen",
  "Add your own steps.": "Fügen Sie eigene Schritte hinzu.",
  "Add {count, plural, one {# contact} other {# contacts}}":
    "{count, plural, one {# Kontakt} other {# Kontakte}} hinzufügen",
  "Add {points} points": "{points} Punkte hinzufügen",
  "Add {value} to {field}": "{value} zu {field} hinzufügen",
  "Add “{text}” to every email, for {discountPercent} % off":
    "„{text}“ in jede E-Mail einfügen, für {discountPercent} % Rabatt",
  Added: "Hinzugefügt",
  "Added here": "Hier hinzugefügt",
  "Added {addedAt}. No choice is recorded since then.":
    "Hinzugefügt: {addedAt}. Seither ist keine Auswahl erfasst.",
  Address: "Adresse",
  "Address contains (optional)": "Adresse enthält (optional)",
  "Address not valid": "Adresse ungültig",
  "Address of a data feed (optional)": "Adresse eines Daten-Feeds (optional)",
  "Address of the feed": "Adresse des Feeds",
  "Address of the image": "Adresse des Bildes",
  "Address of the logo (optional)": "Adresse des Logos (optional)",
  "Address of the picture": "Adresse des Bildes",
  "Address of the video": "Adresse des Videos",
  "Address twice in the audience": "Adresse doppelt im Empfängerkreis",
  "Addresses that get no email or no marketing email, in all sites":
    "Adressen, die auf keiner Website E-Mails oder Marketing-E-Mails erhalten",
  "Adds UTM parameters, so that analytics tools know where a visit comes from.":
    "Ergänzt UTM-Parameter, damit Analysetools die Herkunft eines Besuchs erkennen.",
  Admin: "Administrator",
  Advised: "Empfohlen",
  After: "Nachher",
  "After a submission": "Nach einer Einsendung",
  "after it": "danach",
  "After your password, you enter a code that is mailed to {email}.":
    "Nach Ihrem Passwort geben Sie einen Code ein, der an {email} gesendet wird.",
  "Again and again": "Immer wieder",
  Align: "Ausrichtung",
  All: "Alle",
  "All are true": "Alle zutreffen",
  ["All contacts, templates, sequences, campaigns, forms and statistics of {name} are " +
    "deleted, and its scheduled email is cancelled. This cannot be undone."]:
    "Alle Kontakte, Vorlagen, Automationen, Kampagnen, Formulare und Statistiken von " +
    "{name} werden gelöscht, geplante E-Mails abgebrochen. Das lässt sich nicht rückgängig " +
    "machen.",
  "All events are matched": "Alle Ereignisse sind zugeordnet",
  "All files together can have up to 2 MB.": "Alle Dateien zusammen dürfen bis zu 2 MB groß sein.",
  "All imports": "Alle Importe",
  "All is well": "Alles in Ordnung",
  "All of these": "Alle dieser Bedingungen",
  "All other links": "Alle anderen Links",
  "All sites": "Alle Websites",
  "All that match": "Alle Treffer",
  "Allow email again": "E-Mails wieder erlauben",
  "Allowed senders (SPF)": "Erlaubte Absender (SPF)",
  Also: "Außerdem",
  ["Also goes to contacts who unsubscribed, whatever their topics, and without an " +
    "unsubscribe link. Only for what they must know, such as new terms."]:
    "Geht auch an abgemeldete Kontakte, unabhängig von ihren Themen und ohne Abmeldelink. " +
    "Nur für Pflichtinformationen, etwa neue Geschäftsbedingungen.",
  "Also keeps marketing email back now: {reasons}.":
    "Hält Marketing-E-Mails derzeit ebenfalls zurück: {reasons}.",
  "Also revoke the API keys that this member created":
    "Auch die API-Schlüssel widerrufen, die dieses Mitglied erstellt hat",
  Amount: "Betrag",
  "An animation is used as it is.": "Eine Animation bleibt unverändert.",
  "an audience": "ein Empfängerkreis",
  "an email": "E-Mail",
  "An email for each item": "Eine E-Mail je Eintrag",
  "An email has at most {blocks} blocks.": "Eine E-Mail hat höchstens {blocks} Blöcke.",
  "An email of another editor": "E-Mail aus einem anderen Editor",
  "An email to everybody in the audience was sent.":
    "An alle im Empfängerkreis wurde eine E-Mail gesendet.",
  "An email to everybody in the audience was sent. Whether they arrived is not known.":
    "An alle im Empfängerkreis wurde eine E-Mail gesendet. Ob sie angekommen sind, ist " +
    "nicht bekannt.",
  "An event happens": "Ein Ereignis tritt ein",
  ["An event is listed here for 7 days if its email was not found, for example because " +
    "another program sends with the same account of the provider."]:
    "Ein Ereignis steht hier 7 Tage lang, wenn seine E-Mail nicht gefunden wurde, etwa " +
    "weil ein anderes Programm mit demselben Konto des Anbieters sendet.",
  "An event, a date, an hour": "Ein Ereignis, ein Datum, eine Stunde",
  "an import": "ein Import",
  "an open or a click": "einer Öffnung oder einem Klick",
  "An order with its items and total": "Eine Bestellung mit Artikeln und Summe",
  "An SMTP server does not report what happens to emails.":
    "Ein SMTP-Server meldet nicht, was mit E-Mails geschieht.",
  "an SNS topic of the configuration set, with a subscription to the address":
    "ein SNS-Topic des Configuration Sets, mit einem Abonnement für die Adresse",
  "And a third": "Und eine dritte",
  "and {others, plural, one {# step} other {# steps}} of its branches":
    "und {others, plural, one {# Schritt} other {# Schritte}} seiner Zweige",
  Announcement: "Ankündigung",
  "Another address of the sender’s domain, or of a domain that you have verified.":
    "Eine andere Adresse der Domain des Absenders oder einer von Ihnen verifizierten Domain.",
  ["Another organization can then prove that it owns {name}. To get it back, you publish " +
    "new DNS records."]:
    "Eine andere Organisation kann dann nachweisen, dass ihr {name} gehört. Um sie " +
    "zurückzubekommen, veröffentlichen Sie neue DNS-Einträge.",
  "Another picture": "Anderes Bild",
  "Another program has designed this email. What you change here does not change its design.":
    "Ein anderes Programm hat diese E-Mail gestaltet. Was Sie hier ändern, ändert die " +
    "Gestaltung dort nicht.",
  "Another reason": "Ein anderer Grund",
  "Answer about {email}": "Antwort zu {email}",
  "Answered by an automatic reply": "Mit einer automatischen Antwort beantwortet",
  "Answers go to this address, unless the site has one.":
    "Antworten gehen an diese Adresse, es sei denn, die Website hat eine.",
  "Answers go to this address. Without it, they go to that of the sender.":
    "Antworten gehen an diese Adresse. Ohne Angabe gehen sie an die des Absenders.",
  Any: "Beliebige",
  "any day": "beliebiger Tag",
  "Any event": "Alle Ereignisse",
  "Any folder": "Alle Ordner",
  "Any key": "Alle Schlüssel",
  "Any list": "Alle Listen",
  "Any member": "Alle Mitglieder",
  "Any of these": "Eine dieser Bedingungen",
  "Any outcome": "Alle Ergebnisse",
  "Any reaction": "Alle Reaktionen",
  "Any reason": "Alle Gründe",
  "Any segment": "Alle Segmente",
  "Any status": "Alle Status",
  "Any step": "Alle Schritte",
  "Any tag": "Alle Tags",
  "API key": "API-Schlüssel",
  "API keys": "API-Schlüssel",
  Archive: "Archiv",
  "Archive sequence": "Automation archivieren",
  Archived: "Archiviert",
  "Are you new here?": "Sind Sie neu hier?",
  "Around it": "Außenbereich",
  "Around the email": "Um die E-Mail herum",
  "As it is": "Original",
  "As it looks for": "Ansicht für",
  "As it looks, with the same blocks as an email.":
    "So wie er aussieht, mit denselben Blöcken wie eine E-Mail.",
  "As JSON.": "Als JSON.",
  "As wide as the email": "So breit wie die E-Mail",
  "As wide as the text": "So breit wie der Text",
  "Ask by email to confirm": "Per E-Mail um Bestätigung bitten",
  "Ask for confirmation by email (double opt-in)":
    "Per E-Mail um Bestätigung bitten (Double-Opt-in)",
  "Ask them by email to confirm": "Per E-Mail um Bestätigung bitten",
  "Ask why": "Nach dem Grund fragen",
  Asked: "Angefragt",
  "Asked by": "Auslöser",
  "Asking the provider": "Anbieter wird gefragt",
  "At a time": "Später",
  "At any time": "Jederzeit",
  "At least {minLength} characters. A few words are easy to remember.":
    "Mindestens {minLength} Zeichen. Einige Wörter lassen sich leicht merken.",
  "At most": "Höchstens",
  "At the end of emails and pages, such as the legal notice of the company.":
    "Am Ende von E-Mails und Seiten, etwa das Impressum der Firma.",
  "At the local time of each contact": "Zur Ortszeit jedes Kontakts",
  "At work": "In Arbeit",
  "Attach files": "Dateien anhängen",
  "Attached files": "Angehängte Dateien",
  Audience: "Empfängerkreis",
  "Audiences that are being reached": "Empfängerkreise, die gerade erreicht werden",
  Audit: "Audit",
  "Audit again": "Erneut prüfen",
  "Audit log": "Änderungsprotokoll",
  "Authenticator app": "Authenticator-App",
  "Back to draft": "Zurück zum Entwurf",
  "Back to the columns": "Zurück zu den Spalten",
  Background: "Hintergrund",
  "Background work": "Hintergrundaufgaben",
  "Background work, short": "Hintergrundaufgaben, kurz",
  Badges: "Badges",
  Banner: "Banner",
  "Batch {batchId}": "Stapel {batchId}",
  Bcc: "Bcc",
  Before: "Vorher",
  "before it": "davor",
  "Before or after": "Davor oder danach",
  "Before the first step": "Vor dem ersten Schritt",
  "Before you send": "Vor dem Senden",
  "Begin with": "Beginnen mit",
  ["Begin with a design and change it as it looks, or write the HTML yourself. A design " +
    "can be turned into code later, but not the other way round."]:
    "Beginnen Sie mit einem Design und passen Sie es direkt an, oder schreiben Sie das " +
    "HTML selbst. Ein Design lässt sich später in Code umwandeln, aber nicht umgekehrt.",
  "begins with": "beginnt mit",
  Behaviour: "Verhalten",
  "Behind its emails": "Über seine E-Mails",
  "Belongs to": "Gehört zu",
  "Beyond the plan": "Über den Tarif hinaus",
  Billing: "Abrechnung",
  "Blind copy of each email to (optional)": "Blindkopie jeder E-Mail an (optional)",
  Block: "Block",
  Blocks: "Blöcke",
  "Blocks of the email": "Blöcke der E-Mail",
  Bold: "Fett",
  "Bottom left corner": "Ecke unten links",
  "Bottom right corner": "Ecke unten rechts",
  Bounce: "Bounce",
  "Bounce address": "Bounce-Adresse",
  Bounced: "Unzustellbar",
  Bounces: "Bounces",
  "bounces or complains, or its address is suppressed":
    "unzustellbar ist, sich beschwert oder seine Adresse gesperrt ist",
  ["Bounces, spam reports and unsubscriptions arrive here by themselves. They protect " +
    "your reputation as a sender."]:
    "Bounces, Spam-Meldungen und Abmeldungen kommen von selbst hierher. Sie schützen Ihren " +
    "Ruf als Absender.",
  Branch: "Verzweigung",
  "Branch on a condition": "Nach Bedingung verzweigen",
  "Branch {step} of step {number}": "Zweig {step} von Schritt {number}",
  Brand: "Marke",
  "Brand of {name}": "Marke von {name}",
  "brands frequency cap": "marken häufigkeitsgrenze",
  Browser: "Browser",
  Bullets: "Aufzählung",
  "But not to (optional)": "Aber nicht an (optional)",
  Button: "Button",
  Buy: "Kaufen",
  By: "Durch",
  "by a sequence": "durch eine Automation",
  "by address": "nach Adresse",
  "by an import": "durch einen Import",
  "by confirming a form": "durch Bestätigen eines Formulars",
  "By day": "Nach Tagen",
  "By email": "Per E-Mail",
  "by the link of a confirmation email": "über den Link einer Bestätigungs-E-Mail",
  "By what a contact did or is": "Nach Verhalten oder Eigenschaften",
  "by your organization": "durch Ihre Organisation",
  "Call a URL": "URL aufrufen",
  "Call {url}": "{url} aufrufen",
  "Calls fail since {failingSince}.": "Aufrufe schlagen fehl (erstmals {failingSince}).",
  "Calls of programs with API keys in the last 30 days":
    "Aufrufe von Programmen mit API-Schlüsseln in den letzten 30 Tagen",
  "Came in": "Eintritt",
  Campaign: "Kampagne",
  "Campaign (optional)": "Kampagne (optional)",
  "Campaign cancelled.": "Kampagne abgebrochen.",
  "Campaign deleted.": "Kampagne gelöscht.",
  "Campaign paused": "Kampagne pausiert",
  "Campaign paused.": "Kampagne pausiert.",
  "Campaign resumed.": "Kampagne fortgesetzt.",
  "Campaign sent": "Kampagne gesendet",
  "Campaign series": "Wiederkehrende Kampagne",
  "Campaign variant": "Variante der Kampagne",
  "Campaign {campaignId}": "Kampagne {campaignId}",
  Campaigns: "Kampagnen",
  ["Campaigns and sequences add your postal address and a link to unsubscribe below the " +
    "email, unless every reader sees them in it."]:
    "Kampagnen und Automationen ergänzen unter der E-Mail Ihre Postanschrift und einen " +
    "Abmeldelink, sofern nicht alle Leser sie schon in der E-Mail sehen.",
  ["Campaigns and sequences go to the contact from now on. Do this only if the person " +
    "asked for it."]:
    "Ab jetzt gehen Kampagnen und Automationen an den Kontakt. Tun Sie das nur, wenn die " +
    "Person darum gebeten hat.",
  "Campaigns, sequences and your programs fill this list.":
    "Kampagnen, Automationen und Ihre Programme füllen diese Liste.",
  Cancel: "Abbrechen",
  "Cancel campaign": "Kampagne abbrechen",
  "Cancel email": "E-Mail abbrechen",
  "Cancel holiday email": "Feiertags-E-Mail abbrechen",
  "Cancel plan": "Tarif kündigen",
  "Cancel the email to {toEmail}": "E-Mail an {toEmail} abbrechen",
  "Cancel {record}": "{record} abbrechen",
  "Cancel “{name}”": "„{name}“ abbrechen",
  Cancelled: "Abgebrochen",
  Cancelling: "Wird abgebrochen",
  "Cannot be done: {actionProblem}": "Nicht ausführbar: {actionProblem}",
  "Cannot be in the sequence: the address is suppressed":
    "Kann nicht in der Automation sein: Die Adresse ist gesperrt",
  "Cannot be in the sequence: the contact is not confirmed":
    "Kann nicht in der Automation sein: Der Kontakt ist nicht bestätigt",
  "Cannot be in the sequence: the contact is unsubscribed":
    "Kann nicht in der Automation sein: Der Kontakt ist abgemeldet",
  "Cannot be sent: {problem}": "Kann nicht gesendet werden: {problem}",
  Canvas: "Diagramm",
  Capped: "Häufigkeitsgrenze",
  CAPTCHA: "CAPTCHA",
  Cc: "Cc",
  Change: "Ändern",
  "Change password": "Passwort ändern",
  "Change plan": "Tarif wechseln",
  "Change role": "Rolle ändern",
  "Change the brand": "Marke ändern",
  "Change the key": "Schlüssel ändern",
  "Change the lead score": "Punktestand ändern",
  "Change the snippet": "Baustein ändern",
  "Change the time": "Zeitpunkt ändern",
  "Change to {plan}": "Zu {plan} wechseln",
  Changed: "Geändert",
  "Changed fields": "Geänderte Felder",
  Changes: "Änderungen",
  "Changes are not saved": "Änderungen sind nicht gespeichert",
  "Changes by members, API keys and operators are listed here.":
    "Hier stehen Änderungen durch Mitglieder, API-Schlüssel und Betreiber.",
  "Changes that are not saved yet are lost.": "Noch nicht gespeicherte Änderungen gehen verloren.",
  Charged: "Berechnet",
  "Check that no entry was changed": "Einträge auf Änderungen prüfen",
  "Check the spelling, or search all contacts.":
    "Prüfen Sie die Schreibweise, oder suchen Sie in allen Kontakten.",
  "Check these signatures": "Diese Signaturen prüfen",
  Checkbox: "Kontrollkästchen",
  Checked: "Geprüft",
  Checks: "Prüfungen",
  Choice: "Auswahl",
  "Choices, one per line": "Auswahlmöglichkeiten, eine pro Zeile",
  Choose: "Wählen",
  "Choose a campaign": "Kampagne wählen",
  "Choose a day.": "Wählen Sie einen Tag.",
  "Choose a field, or name one": "Feld wählen oder benennen",
  "Choose a field.": "Wählen Sie ein Feld.",
  "Choose a file": "Datei wählen",
  "Choose a form": "Formular wählen",
  "Choose a language": "Sprache wählen",
  "Choose a list": "Liste wählen",
  "Choose a list.": "Wählen Sie eine Liste.",
  "Choose a picture": "Bild wählen",
  "Choose a sender": "Absender wählen",
  "Choose a sequence.": "Wählen Sie eine Automation.",
  "Choose a snippet": "Baustein wählen",
  "Choose a snippet.": "Wählen Sie einen Baustein.",
  "Choose a status": "Status wählen",
  "Choose a tag": "Tag wählen",
  "Choose a tag.": "Wählen Sie einen Tag.",
  "Choose a template": "Vorlage wählen",
  "Choose a template.": "Wählen Sie eine Vorlage.",
  "Choose a topic": "Thema wählen",
  "Choose a topic.": "Wählen Sie ein Thema.",
  "Choose a value": "Wert wählen",
  "Choose a {label}":
    "{label, select, tag {Tag} list {Liste} liste {Liste} topic {Thema} thema {Thema} " +
    "sequence {Automation} automation {Automation} other {{label}}} wählen",
  "Choose an action": "Aktion wählen",
  "Choose an action.": "Wählen Sie eine Aktion.",
  "Choose an email": "E-Mail wählen",
  "Choose an hour.": "Wählen Sie eine Stunde.",
  "Choose another contact.": "Wählen Sie einen anderen Kontakt.",
  "Choose another file": "Andere Datei wählen",
  "Choose another status to see the others.":
    "Wählen Sie einen anderen Status, um die anderen zu sehen.",
  "Choose one": "Auswählen",
  ["Choose one with 12 characters or more, and enter it in the address, too, in place of " +
    "YOUR_SECRET."]:
    "Wählen Sie eines mit mindestens 12 Zeichen, und setzen Sie es auch in der Adresse " +
    "anstelle von YOUR_SECRET ein.",
  "Choose what you get": "E-Mails auswählen",
  "Choose which column has the email addresses: set its field to “Email”.":
    "Wählen Sie die Spalte mit den E-Mail-Adressen: Setzen Sie ihr Feld auf „E-Mail“.",
  "Chosen rights": "Gewählte Rechte",
  Clear: "Leeren",
  "Clear a field": "Feld leeren",
  "Clear filters": "Filter zurücksetzen",
  "Clear search": "Suche leeren",
  "Clear selection": "Auswahl aufheben",
  "Clear the search, or choose another folder.":
    "Leeren Sie die Suche oder wählen Sie einen anderen Ordner.",
  "Clear the search, or try another word.":
    "Leeren Sie die Suche oder versuchen Sie ein anderes Wort.",
  "Clear {field}": "{field} leeren",
  Click: "Klick",
  ["Click to add a block, or drag it to its place. <kbd>Alt</kbd> with {kbd2} or {kbd3} " +
    "moves the selected one."]:
    "Klicken Sie, um einen Block hinzuzufügen, oder ziehen Sie ihn an seinen Platz. " +
    "<kbd>Alt</kbd> mit {kbd2} oder {kbd3} verschiebt den ausgewählten.",
  Clicked: "Geklickt",
  "Clicked in {email}": "In {email} geklickt",
  "Clicked links": "Geklickte Links",
  Clicks: "Klicks",
  "Clicks a link": "Klickt auf einen Link",
  "Clicks a link in an email": "Klickt auf einen Link in einer E-Mail",
  "clicks a link in an email": "auf einen Link in einer E-Mail klickt",
  "Client id": "Client-ID",
  "Client secret": "Client-Geheimnis",
  Close: "Schließen",
  "Close settings": "Einstellungen schließen",
  "Close the panel": "Seitenleiste schließen",
  Closed: "Geschlossen",
  "Closed: says that it is closed": "Geschlossen: weist darauf hin",
  "Cloudflare Turnstile": "Cloudflare Turnstile",
  Code: "Code",
  "Code by email": "Code per E-Mail",
  "Color scheme": "Farbschema",
  "Colour of the button": "Farbe des Buttons",
  "Colours, font, corners, logo and footer text, also when the brand changes.":
    "Farben, Schrift, Ecken, Logo und Fußzeilentext, auch wenn sich die Marke ändert.",
  "Column {number}": "Spalte {number}",
  Columns: "Spalten",
  "Columns of the file": "Spalten der Datei",
  "Columns of the table": "Spalten der Tabelle",
  "Comma: 1.299,90": "Komma: 1.299,90",
  Company: "Firma",
  "Company (optional)": "Firma (optional)",
  "Compared with the latest campaigns": "Im Vergleich mit den letzten Kampagnen",
  Comparison: "Vergleich",
  "Comparison of condition {number}": "Vergleich von Bedingung {number}",
  "Comparison of the property": "Vergleich der Eigenschaft",
  "Comparison with the hold-out group": "Vergleich mit der Vergleichsgruppe",
  Complained: "Beschwerden",
  Complaints: "Beschwerden",
  Complete: "Vollständig",
  "Complete the condition.": "Vervollständigen Sie die Bedingung.",
  "Complete the conditions to see how many match.":
    "Vervollständigen Sie die Bedingungen, um zu sehen, wie viele passen.",
  "Complete the conditions, or they are left out.":
    "Vervollständigen Sie die Bedingungen, sonst bleiben sie weg.",
  Completed: "Abgeschlossen",
  "Completed, at an exit": "Abgeschlossen, an einem Ausstieg",
  "Completed, at the end": "Abgeschlossen, am Ende",
  "Completed: an exit of the sequence is met":
    "Abgeschlossen: Ein Ausstieg der Automation ist erfüllt",
  "Completed: the goal is reached": "Abgeschlossen: Das Ziel ist erreicht",
  Compliance: "Compliance",
  "Compliance settings": "Compliance-Einstellungen",
  Conditions: "Bedingungen",
  "Configuration › Webhooks": "Configuration › Webhooks",
  Confirm: "Bestätigen",
  "Confirm that it is you": "Bestätigen Sie Ihre Identität",
  "Confirmation by email": "Bestätigung per E-Mail",
  Confirmed: "Bestätigt",
  "Confirmed from IP": "Bestätigt von IP",
  "Confirmed in the browser": "Bestätigt im Browser",
  "Connect provider": "Anbieter verbinden",
  "Connect your email provider": "E-Mail-Anbieter verbinden",
  "Connect your email provider first.": "Verbinden Sie zuerst Ihren E-Mail-Anbieter.",
  Consent: "Einwilligung",
  Contact: "Kontakt",
  "Contact action": "Kontaktaktion",
  "Contact created": "Kontakt erstellt",
  "Contact deleted": "Kontakt gelöscht",
  "contact deleted": "Kontakt gelöscht",
  "Contact field": "Kontaktfeld",
  "Contact to explain": "Zu erklärender Kontakt",
  "Contact topics": "Themen des Kontakts",
  "Contact unsubscribed": "Kontakt abgemeldet",
  "Contact updated": "Kontakt geändert",
  Contacts: "Kontakte",
  "Contacts are counted then. Changes above still count.":
    "Erst dann werden die Kontakte gezählt. Änderungen oben gelten noch.",
  "Contacts come here by the trigger of the sequence, or when you add them.":
    "Kontakte kommen durch den Auslöser der Automation hierher oder wenn Sie sie hinzufügen.",
  "Contacts for whom": "Kontakte, für die",
  "Contacts in sequences": "Kontakte in Automationen",
  "Contacts in the sequence": "Kontakte in der Automation",
  "Contacts keep the points that it has given.":
    "Kontakte behalten die Punkte, die sie vergeben hat.",
  "Contacts open the page from the footer of your emails, to choose topics or to leave.":
    "Kontakte öffnen die Seite über die Fußzeile Ihrer E-Mails, um Themen auszuwählen oder " +
    "sich abzumelden.",
  "Contacts see it on the preference page.":
    "Kontakte sehen ihn auf der Seite für E-Mail-Einstellungen.",
  "Contacts that match": "Passende Kontakte",
  "Contacts that match rules now, looked up whenever you send":
    "Kontakte, die jetzt Regeln entsprechen – bei jedem Senden neu ermittelt",
  "Contacts that several sequences send to at the same time.":
    "Kontakte, an die mehrere Automationen gleichzeitig senden.",
  "Contacts who have not chosen": "Kontakte ohne eigene Auswahl",
  "Contacts who have not chosen do not get it. This can never change.":
    "Kontakte ohne eigene Auswahl erhalten es nicht. Das lässt sich nie ändern.",
  "Contacts who have not chosen get it. This can never change.":
    "Kontakte ohne eigene Auswahl erhalten es. Das lässt sich nie ändern.",
  "Contacts who have unsubscribed can say why. Reports count the answers.":
    "Abgemeldete Kontakte können sagen, warum. Berichte zählen die Antworten.",
  "Contacts who left the topic do not get it.": "Wer das Thema abbestellt hat, erhält sie nicht.",
  "Contacts who left the topic go on without the emails.":
    "Kontakte, die das Thema abbestellt haben, gehen ohne die E-Mails weiter.",
  "Contacts who were in it before": "Kontakte, die schon darin waren",
  contains: "enthält",
  "contains none of": "enthält keines von",
  "contains one of": "enthält eines von",
  Content: "Inhalt",
  content: "Inhalt",
  "Content for campaigns, sequences and the API": "Inhalte für Kampagnen, Automationen und die API",
  Continue: "Weiter",
  Contradictory: "Widersprüchlich",
  Conversions: "Conversions",
  Converted: "Konvertiert",
  "Converted here": "Hier konvertiert",
  Copied: "Kopiert",
  Copy: "Kopieren",
  "Copy from here on": "Ab hier kopieren",
  "Copy of every single email to (optional)": "Kopie jeder einzelnen E-Mail an (optional)",
  "Copy of {name}": "Kopie von {name}",
  "Copy snippet": "Baustein kopieren",
  "Copy template": "Vorlage kopieren",
  "Copy the address": "Adresse kopieren",
  "Copy the address for the provider": "Adresse für den Anbieter kopieren",
  "Copy the address of the sign-in": "Adresse der Anmeldung kopieren",
  "Copy the id of the request": "ID der Anfrage kopieren",
  "Copy the key": "Schlüssel kopieren",
  "Copy the key now. It is not shown again.":
    "Kopieren Sie den Schlüssel jetzt. Er wird nicht noch einmal gezeigt.",
  "Copy the recovery codes": "Wiederherstellungscodes kopieren",
  "Copy the redirect URI": "Redirect-URI kopieren",
  "Copy the secret": "Geheimnis kopieren",
  "Copy the step with its branches": "Schritt mit seinen Verzweigungen kopieren",
  "Copy the {label}": "{label} kopieren",
  "Copy them in your spreadsheet, with the row that names the columns.":
    "Kopieren Sie sie aus Ihrer Tabelle, mit der Zeile, die die Spalten benennt.",
  "Copy to a new draft": "In neuen Entwurf kopieren",
  "Copy: {label}": "Kopieren: {label}",
  Corners: "Ecken",
  "Count conversions": "Conversions zählen",
  Counting: "Wird gezählt",
  "Create a form": "Formular erstellen",
  "Create a segment": "Segment erstellen",
  "Create a site and send a test email first.":
    "Legen Sie zuerst eine Website an und senden Sie eine Test-E-Mail.",
  "Create a snippet": "Baustein anlegen",
  "Create a template": "Vorlage erstellen",
  "Create account": "Konto erstellen",
  "Create an account": "Konto erstellen",
  "Create an API key": "API-Schlüssel erstellen",
  "Create campaign": "Kampagne erstellen",
  "Create copy": "Kopie anlegen",
  "Create draft": "Entwurf erstellen",
  "Create field": "Feld erstellen",
  "Create folder": "Ordner erstellen",
  "Create key": "Schlüssel erstellen",
  "Create list": "Liste erstellen",
  "Create new codes": "Neue Codes erstellen",
  "Create segment": "Segment erstellen",
  "Create sequence": "Automation erstellen",
  "Create site": "Website anlegen",
  "Create snippet": "Baustein anlegen",
  "Create tag": "Tag erstellen",
  "Create topic": "Thema erstellen",
  "Create totp secret": "TOTP-Geheimnis erstellen",
  "Create your account": "Erstellen Sie Ihr Konto",
  "Create {record}": "{record} erstellen",
  Created: "Erstellt",
  Credentials: "Zugangsdaten",
  "Credentials that stay empty are kept.": "Leer gelassene Zugangsdaten bleiben unverändert.",
  Credit: "Guthaben",
  "Credit packages": "Guthabenpakete",
  Credits: "Guthaben",
  "Credits pay for emails beyond the plan, and do not expire.":
    "Mit Guthaben zahlen Sie E-Mails über den Tarif hinaus. Es verfällt nicht.",
  "CSV file": "CSV-Datei",
  "CSV, for spreadsheets": "CSV, für Tabellen",
  Currency: "Währung",
  "Custom event": "Eigenes Ereignis",
  Current: "Aktuell",
  "Current password": "Aktuelles Passwort",
  "Custom field": "Eigenes Feld",
  "Cut the step with its branches": "Schritt mit seinen Verzweigungen ausschneiden",
  Dark: "Dunkel",
  Date: "Datum",
  "Date and time": "Datum und Uhrzeit",
  "Date of a bounce": "Datum eines Bounce",
  "Date of unsubscribing": "Datum der Abmeldung",
  Day: "Tag",
  "Day first: 20/11/2026": "Tag zuerst: 20/11/2026",
  "Day of the month": "Tag des Monats",
  days: "Tage",
  Days: "Tage",
  "Days between marketing emails to a contact (optional)":
    "Tage zwischen Marketing-E-Mails an einen Kontakt (optional)",
  "Days since they last started": "Tage seit dem letzten Start",
  "de or pt-BR": "de oder pt-BR",
  "Decimal mark": "Dezimalzeichen",
  Default: "Standardfassung",
  "Default: {locale}": "Standardfassung: {locale}",
  Deferred: "Verzögert",
  Delayed: "Verzögert",
  "Delayed by the recipient's server": "Vom Server des Empfängers verzögert",
  Delete: "Löschen",
  "Delete anyway": "Trotzdem löschen",
  "Delete campaign": "Kampagne löschen",
  "Delete contact": "Kontakt löschen",
  "Delete domain": "Domain löschen",
  "Delete field": "Feld löschen",
  "Delete field “{name}”": "Feld „{name}“ löschen",
  "Delete form": "Formular löschen",
  "Delete holiday email": "Feiertags-E-Mail löschen",
  "Delete now": "Jetzt löschen",
  "Delete picture": "Bild löschen",
  "Delete recurring campaign": "Wiederkehrende Kampagne löschen",
  "Delete sender": "Absender löschen",
  "Delete sequence": "Automation löschen",
  "Delete site": "Website löschen",
  "Delete snippet": "Baustein löschen",
  "Delete snippet “{name}”": "Baustein „{name}“ löschen",
  "Delete step": "Schritt löschen",
  "Delete template": "Vorlage löschen",
  "Delete the step": "Den Schritt löschen",
  "Delete {count} steps": "{count} Schritte löschen",
  "Delete {email}": "{email} löschen",
  "Delete {name}": "{name} löschen",
  "Delete {record}": "{record} löschen",
  "Delete “{name}”": "„{name}“ löschen",
  "Deleted ({id})": "Gelöscht ({id})",
  "Deleted contact": "Gelöschter Kontakt",
  "Deleted sender": "Gelöschter Absender",
  "Deliver again": "Erneut zustellen",
  Delivered: "Zugestellt",
  "Delivered and bounced by day": "Zugestellt und unzustellbar pro Tag",
  Deliveries: "Zustellungen",
  "Deliveries, bounces and clicks from providers": "Zustellungen, Bounces und Klicks von Anbietern",
  Delivery: "Zustellung",
  "Describe the image for those who cannot see it.":
    "Beschreiben Sie das Bild für alle, die es nicht sehen können.",
  Description: "Beschreibung",
  "Description (optional)": "Beschreibung (optional)",
  "Description of the picture": "Beschreibung des Bildes",
  Design: "Design",
  "Design an email": "E-Mail gestalten",
  ["Designs that use the brand, pages and forms follow it at once. Email that is accepted " +
    "keeps the brand it had."]:
    "Designs mit der Marke, Seiten und Formulare folgen ihr sofort. Bereits angenommene " +
    "E-Mails behalten die Marke, die sie hatten.",
  Desktop: "Desktop",
  Details: "Details",
  Developer: "Entwickler",
  Device: "Gerät",
  "did not happen": "ist nicht eingetreten",
  "Did not happen": "Nicht eingetreten",
  "did not happen exactly … time": "ist nicht genau …-mal eingetreten",
  "did not happen exactly … times": "ist nicht genau …-mal eingetreten",
  "Disable email otp": "E-Mail-Code deaktivieren",
  "Disable totp": "TOTP deaktivieren",
  Discard: "Verwerfen",
  "Discard draft": "Entwurf verwerfen",
  "Discard my changes": "Meine Änderungen verwerfen",
  Divider: "Trennlinie",
  "DNS records": "DNS-Einträge",
  "dns spf dkim dmarc": "dns spf dkim dmarc",
  Do: "Aktionen",
  ["Do this only if the address works and its owner wants your email: another bounce or " +
    "complaint harms the delivery of all your email."]:
    "Tun Sie das nur, wenn die Adresse funktioniert und ihr Inhaber Ihre E-Mails möchte: " +
    "Ein weiterer Bounce oder eine Beschwerde schadet der Zustellung all Ihrer E-Mails.",
  "Do you have an account? <anchor>Sign in</anchor>":
    "Haben Sie schon ein Konto? <anchor>Anmelden</anchor>",
  "Does it say who gets email?": "Sagt sie, wer E-Mails erhält?",
  "does not contain": "enthält nicht",
  "does not have its anniversary in … day": "jährt sich nicht in … Tag",
  "does not have its anniversary in … days": "jährt sich nicht in … Tagen",
  "Does not hold:": "Trifft nicht zu:",
  "Does something that a program reports": "Tut etwas, das ein Programm meldet",
  "does “{event}”": "„{event}“ auslöst",
  ["Does “{header}” say who gets email and who does not? Choose what it means, a new " +
    "field, or leave it out."]:
    "Sagt „{header}“, wer E-Mails erhält und wer nicht? Wählen Sie die Bedeutung oder ein " +
    "neues Feld, oder lassen Sie die Spalte weg.",
  Domain: "Domain",
  "Domain of the sender": "Domain des Absenders",
  "Domain of your senders": "Domain Ihrer Absender",
  "Domain verified": "Domain verifiziert",
  Domains: "Domains",
  "Domains of the members' addresses": "Domains der Mitgliederadressen",
  Done: "Fertig",
  "Done: {action}": "Erledigt: {action}",
  down: "nach unten",
  "Download all data": "Alle Daten herunterladen",
  "Download all of them": "Alle herunterladen",
  "Download as CSV": "Als CSV herunterladen",
  "Download as MJML": "Als MJML herunterladen",
  "Download file": "Datei herunterladen",
  "Download file: {name}": "Datei herunterladen: {name}",
  "Download the first {downloadedErrors}": "Die ersten {downloadedErrors} herunterladen",
  Draft: "Entwurf",
  "Draft saved": "Entwurf gespeichert",
  "Draft: takes no submissions yet": "Entwurf: nimmt noch keine Einsendungen an",
  "Drag to move": "Zum Verschieben ziehen",
  "Draw by chance": "Zufällig wählen",
  "Drawing of the steps": "Zeichnung der Schritte",
  "Drawn by chance": "Zufällig gewählt",
  "Drop a CSV file here": "CSV-Datei hier ablegen",
  "Drop a picture here, or paste it": "Bild hier ablegen oder einfügen",
  Dropped: "Verworfen",
  "Dropped by the provider": "Vom Anbieter verworfen",
  Duplicate: "Duplikat",
  "Duplicate {name}": "{name} duplizieren",
  Duration: "Dauer",
  ["Each contact takes one way by chance, and stays on it. A way with twice the weight " +
    "gets twice as many contacts."]:
    "Jeder Kontakt nimmt zufällig einen Weg und bleibt darauf. Ein Weg mit doppeltem " +
    "Gewicht erhält doppelt so viele Kontakte.",
  "Each must be verified under Domains.": "Jede muss unter „Domains“ verifiziert sein.",
  "Each one appears here with the evidence of consent.":
    "Jede erscheint hier mit dem Nachweis der Einwilligung.",
  "Each pending contact of the file gets one email. Who confirms is subscribed.":
    "Jeder ausstehende Kontakt der Datei erhält eine E-Mail. Wer bestätigt, ist angemeldet.",
  "Each time has the template and the contacts of that time, and its own results.":
    "Jedes Mal gelten Vorlage und Kontakte dieses Zeitpunkts, und es gibt eigene Ergebnisse.",
  ["Each variant goes to about {perVariant}. With fewer than {smallVariant}, the better " +
    "one is a matter of chance."]:
    "Jede Variante geht an etwa {perVariant}. Bei weniger als {smallVariant} entscheidet " +
    "der Zufall, welche besser ist.",
  "Earlier, if the winner is certain": "Früher, wenn der Gewinner feststeht",
  Edit: "Bearbeiten",
  "Edit fields": "Felder bearbeiten",
  "Edit sender": "Absender bearbeiten",
  "Edit the template": "Vorlage bearbeiten",
  "Edit this template": "Diese Vorlage bearbeiten",
  "Edit topic": "Thema bearbeiten",
  "Edit {email}": "{email} bearbeiten",
  "Edit {name}": "{name} bearbeiten",
  "Edit “{name}”": "„{name}“ bearbeiten",
  Editor: "Redakteur",
  Email: "E-Mail",
  "Email address": "E-Mail-Adresse",
  "Email address of a contact": "E-Mail-Adresse eines Kontakts",
  "Email address of a recipient": "E-Mail-Adresse eines Empfängers",
  ["Email can go to {email} again, and contacts with this address get back the status " +
    "that they had before."]:
    "An {email} können wieder E-Mails gehen, und Kontakte mit dieser Adresse erhalten " +
    "ihren früheren Status zurück.",
  "Email from a domain with these records reaches more inboxes.":
    "E-Mails von einer Domain mit diesen Einträgen erreichen mehr Posteingänge.",
  "Email headers (optional)": "E-Mail-Header (optional)",
  "Email or page": "E-Mail oder Seite",
  "Email preview": "E-Mail-Vorschau",
  "Email that asks to confirm (optional)": "E-Mail mit der Bitte um Bestätigung (optional)",
  "Email that waits for a provider": "E-Mails, die auf einen Anbieter warten",
  "Email to them bounces": "Ist per E-Mail unzustellbar",
  "Email to users, such as password resets":
    "E-Mails an Benutzer, etwa zum Zurücksetzen des Passworts",
  "Email to {email}": "E-Mail an {email}",
  "Email with the brand": "E-Mail mit der Marke",
  "Email your team": "E-Mail an Ihr Team",
  "Email your team: {subject}": "E-Mail an Ihr Team: {subject}",
  "email {number}": "E-Mail {number}",
  "Email,First name,Last name,Tags,Plan\nada@example.com,Ada,Lovelace,customer,Gold\n":
    "E-Mail,Vorname,Nachname,Tags,Tarif\nada@example.com,Ada,Lovelace,customer,Gold\n",
  Emails: "E-Mails",
  "Emails a month": "E-Mails pro Monat",
  "Emails and what happened to them": "E-Mails und was mit ihnen geschah",
  "Emails by day": "E-Mails nach Tagen",
  "Emails of the plan that were used": "Verbrauchte E-Mails des Tarifs",
  "Emails on the first day": "E-Mails am ersten Tag",
  "Emails on the last day": "E-Mails am letzten Tag",
  "Emails sent": "Gesendete E-Mails",
  "Emails that each contact gets one after the other":
    "E-Mails, die jeder Kontakt nacheinander erhält",
  "Emails that were sent with this picture show it no longer.":
    "E-Mails, die mit diesem Bild gesendet wurden, zeigen es nicht mehr.",
  "Emails to {address}": "E-Mails an {address}",
  Empty: "Leer",
  "Empty for this contact: {variables}": "Leer bei diesem Kontakt: {variables}",
  "Empty in the first rows": "In den ersten Zeilen leer",
  "Empty keeps the stored one.": "Leer bleibt das gespeicherte erhalten.",
  "Empty sequence": "Leere Automation",
  "Enable email otp": "E-Mail-Code aktivieren",
  "Enable totp": "TOTP aktivieren",
  End: "Ende",
  "End another sequence": "Andere Automation beenden",
  "End the pause": "Pause beenden",
  "End the sequence {sequence}": "Automation {sequence} beenden",
  "Ended the pause": "Pause beendet",
  Ends: "Endet",
  "Ends on {date}.": "Endet am {date}.",
  "ends with": "endet mit",
  "Enroll in sequence": "In Automation aufnehmen",
  "Enter after each": "Nach jedem Wert Enter",
  "Enter this address at the provider as the redirect URI:":
    "Geben Sie diese Adresse beim Anbieter als Redirect-URI ein:",
  "enters a segment": "in ein Segment kommt",
  Entries: "Einträge",
  "Entries to add": "Hinzuzufügende Einträge",
  Entry: "Eintrag",
  "Erase person": "Person endgültig löschen",
  "Erase {email}": "{email} endgültig löschen",
  "Erased contact": "Gelöschter Kontakt",
  Error: "Fehler",
  Esc: "Esc",
  Event: "Ereignis",
  "Event invitation": "Einladung",
  "Event property": "Eigenschaft des Ereignisses",
  Events: "Ereignisse",
  ["Events come from your provider. Each sender in the settings has the address to which " +
    "the provider reports them."]:
    "Ereignisse kommen von Ihrem Anbieter. Jeder Absender in den Einstellungen hat die " +
    "Adresse, an die der Anbieter sie meldet.",
  ["Events count within {days, plural, one {# day} other {# days}} after {cause, " +
    "select, click {a click} open {an open or a click} other {the email}}, until " +
    "{time}."]:
    "Ereignisse zählen innerhalb von {days, plural, one {# Tag} other {# Tagen}} nach " +
    "{cause, select, click {einem Klick} open {einer Öffnung oder einem Klick} other " +
    "{der E-Mail}}, bis {time}.",
  "Events for webhooks": "Ereignisse für Webhooks",
  "Events that were not matched": "Nicht zugeordnete Ereignisse",
  "Events that {url} did not get yet are dropped.":
    "Ereignisse, die {url} noch nicht erhalten hat, werden verworfen.",
  "Every change and every sign-in of the last 400 days":
    "Jede Änderung und Anmeldung der letzten 400 Tage",
  "Every contact": "Alle Kontakte",
  "Every day": "Jeden Tag",
  "Every Monday": "Jeden Montag",
  "Every variant of the A/B test has a subject of its own, so this one is not used.":
    "Jede Variante des A/B-Tests hat einen eigenen Betreff, deshalb wird dieser nicht " +
    "verwendet.",
  "Every year": "Jedes Jahr",
  "Every {weekdays}": "Jeden {weekdays}",
  "Everybody sees it on the preference page":
    "Für alle auf der Seite für E-Mail-Einstellungen sichtbar",
  "Everybody who has not opened it gets the email once more.":
    "Alle, die sie noch nicht geöffnet haben, erhalten die E-Mail noch einmal.",
  "Everybody who has the email can see them, also after it was forwarded.":
    "Alle, die die E-Mail haben, können sie sehen, auch nach dem Weiterleiten.",
  "Everybody whose email bounced or was refused gets it once more.":
    "Alle, deren E-Mail unzustellbar war oder abgelehnt wurde, erhalten sie noch einmal.",
  "Everyone gets the email": "Alle erhalten die E-Mail",
  "Everyone gets them. A link to the file is often better.":
    "Alle erhalten sie. Ein Link zur Datei ist oft besser.",
  Everything: "Alles",
  "Everything that you may do": "Alles, was Sie dürfen",
  Everywhere: "Überall",
  "Evidence of consent": "Nachweis der Einwilligung",
  Example: "Beispiel",
  "Excel then shows letters such as é and ß correctly.":
    "Excel zeigt dann Buchstaben wie é und ß richtig an.",
  "Excellent reputation": "Ausgezeichnete Reputation",
  Exit: "Ausstieg",
  "Exit the sequence": "Automation verlassen",
  "exit {number}": "Ausstieg {number}",
  Exited: "Ausgestiegen",
  Expired: "Abgelaufen",
  Expires: "Läuft ab",
  Export: "Exportieren",
  export: "Export",
  "Export audit": "Audit exportieren",
  "Export contacts": "Kontakte exportieren",
  "Export: {label}": "Export: {label}",
  "External id": "Externe ID",
  Failed: "Fehlgeschlagen",
  "Failed for good": "Endgültig gescheitert",
  Failing: "Schlägt fehl",
  "Fair reputation": "Mittlere Reputation",
  "Fallback (optional)": "Ersatz (optional)",
  Faster: "Schneller",
  Field: "Feld",
  "Field for {header}": "Feld für {header}",
  "Field of condition {number}": "Feld von Bedingung {number}",
  "Field {number}": "Feld {number}",
  "Field “{label}”": "Feld „{label}“",
  "Field, such as firstName": "Feld, z. B. firstName",
  Fields: "Felder",
  "Fields and score": "Felder und Punktestand",
  "Fields that contacts can change": "Felder, die Kontakte ändern können",
  Figures: "Zahlen",
  "Figures by": "Zahlen nach",
  File: "Datei",
  "Find a photo": "Foto finden",
  "Finish it": "Abschlussquote",
  First: "Erstes",
  "First 3 days by hour": "Erste 3 Tage nach Stunden",
  "First and last name in one": "Vor- und Nachname in einem",
  "First event": "Erstes Ereignis",
  "First name": "Vorname",
  "First name (optional)": "Vorname (optional)",
  "First row": "Erste Zeile",
  "First rows": "Erste Zeilen",
  Folder: "Ordner",
  "Folder “{name}”": "Ordner „{name}“",
  Folders: "Ordner",
  Font: "Schrift",
  "Fonts that every mail program has.": "Schriften, die jedes Mailprogramm kennt.",
  Footer: "Fußzeile",
  "Footer of the service": "Fußzeile des Dienstes",
  "Footer text (optional)": "Fußzeilentext (optional)",
  "For 30, 60 or 90 days a contact gets no marketing email, and stays subscribed.":
    "Ein Kontakt erhält 30, 60 oder 90 Tage lang keine Marketing-E-Mails und bleibt angemeldet.",
  "For emails with a plain text of their own that has the snippet.":
    "Für E-Mails mit einem eigenen Nur-Text, der den Baustein enthält.",
  "For everybody": "Für alle",
  "For Excel": "Für Excel",
  "For the moment": "Vorübergehend",
  "For your team. Recipients do not see it.": "Für Ihr Team. Empfänger sehen ihn nicht.",
  "Forgot your password?": "Passwort vergessen?",
  Form: "Formular",
  form: "Formular",
  "Form submitted": "Formular eingesendet",
  Format: "Format",
  Forms: "Formulare",
  Found: "Gefunden",
  "Frequency cap": "Häufigkeitsgrenze",
  "frequency cap of the site": "Häufigkeitsgrenze der Website",
  Fri: "Fr",
  Friday: "Freitag",
  From: "Von",
  "From (optional)": "Von (optional)",
  "From a file or a spreadsheet": "Aus einer Datei oder Tabelle",
  "From edge to edge": "Von Rand zu Rand",
  "From IP": "Von IP",
  "From now on, a contact who {event} gets these steps.":
    "Ab jetzt durchläuft ein Kontakt, der {event}, diese Schritte.",
  "From the brand of the site": "Aus der Marke der Website",
  "From the email that we send you, or a recovery code.":
    "Aus unserer E-Mail an Sie oder ein Wiederherstellungscode.",
  "From your authenticator app, or a recovery code.":
    "Aus Ihrer Authenticator-App oder ein Wiederherstellungscode.",
  "From {sender}": "Von {sender}",
  "From {sender}, replies to {replyTo}": "Von {sender}, Antworten an {replyTo}",
  "Get started": "Jetzt starten",
  "Gets a signed POST request with the contact, and is tried again on errors.":
    "Erhält eine signierte POST-Anfrage mit dem Kontakt; bei Fehlern wird sie wiederholt.",
  "Gets a tag": "Erhält einen Tag",
  "gets another {field}": "einen anderen Wert für {field} erhält",
  "Gets campaigns and sequences.": "Erhält Kampagnen und Automationen.",
  "Gets nothing until the address is confirmed.": "Erhält nichts, bis die Adresse bestätigt ist.",
  "Gets nothing: the address is on the suppression list.":
    "Erhält nichts: Die Adresse steht auf der Sperrliste.",
  "gets the tag {tag}": "den Tag {tag} erhält",
  "Gets transactional email only: unsubscribed from marketing.":
    "Erhält nur transaktionale E-Mails: von Marketing abgemeldet.",
  "Give tags (optional)": "Tags vergeben (optional)",
  "Give the URL.": "Geben Sie die URL an.",
  "Give the value.": "Geben Sie den Wert an.",
  "Give up": "Aufgeben",
  "Go on to a page of yours (optional)": "Weiter zu einer eigenen Seite (optional)",
  "Go to": "Gehe zu",
  "Go to Home": "Zur Startseite",
  "Go to {label}": "{label} öffnen",
  "goal {number}": "Ziel {number}",
  "Goals and exits": "Ziele und Ausstiege",
  "Goals and exits end it earlier for others, such as contacts who bought something.":
    "Ziele und Ausstiege beenden sie für andere früher, etwa für Kontakte, die etwas " +
    "gekauft haben.",
  "Goes on": "Weiter",
  "Goes on at once": "Geht sofort weiter",
  "Goes on at once: the contact has no such date":
    "Geht sofort weiter: Der Kontakt hat kein solches Datum",
  "Goes on at once: {time} has passed": "Geht sofort weiter: {time} ist vorbei",
  "Goes on with step {goesTo}": "Weiter mit Schritt {goesTo}",
  "Goes way {way}": "Nimmt Weg {way}",
  "Good reputation": "Gute Reputation",
  "Got marketing email too recently": "Erst kürzlich angeschrieben",
  "Got the email": "Haben die E-Mail erhalten",
  Group: "Gruppe",
  Half: "Hälfte",
  Halves: "Hälften",
  "Handed to {provider}": "An {provider} übergeben",
  happened: "ist eingetreten",
  "happened at least … time": "ist mindestens …-mal eingetreten",
  "happened at least … times": "ist mindestens …-mal eingetreten",
  "happened at most … time": "ist höchstens …-mal eingetreten",
  "happened at most … times": "ist höchstens …-mal eingetreten",
  "happened exactly … time": "ist genau …-mal eingetreten",
  "happened exactly … times": "ist genau …-mal eingetreten",
  "Happened once": "Einmal eingetreten",
  "Happened {count} times": "{count}-mal eingetreten",
  "Hard to guess": "Schwer zu erraten",
  "has its anniversary in … day": "jährt sich in … Tag",
  "has its anniversary in … days": "jährt sich in … Tagen",
  "has its date {field}": "das Datum {field} erreicht",
  "Has none": "Hat keine",
  "Has not the tag {tag}": "Hat den Tag {tag} nicht",
  "Has the tag {tag}": "Hat den Tag {tag}",
  "Has {actualNames}": "Hat {actualNames}",
  "Hash of {time}: {code}": "Hash vom {time}: {code}",
  "Have a look": "Ansehen",
  "Have a look at what is new this week": "Sehen Sie sich an, was diese Woche neu ist",
  Headers: "Kopfzeilen",
  Heading: "Überschrift",
  "Heading (optional)": "Überschrift (optional)",
  Health: "Zustand",
  "health operator queues dead letters lanes schedules version":
    "zustand betreiber warteschlangen dead letters lanes zeitpläne version",
  Height: "Höhe",
  "Height on phones": "Höhe auf dem Handy",
  Held: "Zurückgehalten",
  "Held by domain": "Zurückgehalten: Domain",
  "Held by provider": "Zurückgehalten: Anbieter",
  "Held by warm up": "Zurückgehalten: Aufwärmen",
  "Hello Ada,\nthis is what your readers see.": "Hallo Ada,\ndas sehen Ihre Leser.",
  "Hello from Pennymail": "Hallo von Pennymail",
  'Hello {{ firstName | default: "there" }},': 'Hallo {{ firstName | default: "zusammen" }},',
  "Here now": "Jetzt hier",
  Hidden: "Verborgen",
  "Hide the set-up": "Einrichtung ausblenden",
  "Hide this line": "Linie ausblenden",
  Hint: "Hinweis",
  History: "Verlauf",
  "Hold-out group": "Vergleichsgruppe",
  "Hold-out group (optional)": "Vergleichsgruppe (optional)",
  "Holds:": "Trifft zu:",
  Holiday: "Feiertag",
  "Holiday email": "Feiertags-E-Mail",
  "Holiday email {holidayId}": "Feiertags-E-Mail {holidayId}",
  "Holiday emails": "Feiertags-E-Mails",
  Home: "Start",
  Hour: "Stunde",
  "Hour (optional)": "Stunde (optional)",
  hours: "Stunden",
  "Hours until a reminder to confirm (optional)":
    "Stunden bis zur Erinnerung an die Bestätigung (optional)",
  "How cells are read": "Wie Zellen gelesen werden",
  "How it is edited": "Wie er bearbeitet wird",
  "How many conditions must hold": "Wie viele Bedingungen zutreffen müssen",
  "How many contacts order, sign up or do something else afterwards.":
    "Wie viele Kontakte danach bestellen, sich anmelden oder etwas anderes tun.",
  "How often": "Wie oft",
  HTML: "HTML",
  "HTML ({name})": "HTML ({name})",
  "HTML of your own": "Eigenes HTML",
  "HTML that stands around an email. The email takes the place of a field in it.":
    "HTML, das um eine E-Mail herum steht. Die E-Mail tritt an die Stelle eines Feldes " + "darin.",
  "HTML that you write or paste": "Selbst geschriebenes oder eingefügtes HTML",
  "HTML that you write or paste.": "HTML, das Sie schreiben oder einfügen.",
  Id: "ID",
  "Identity provider": "Identitätsanbieter",
  "If one of the two has unsubscribed or left a topic, so has the one that stays.":
    "Hat sich einer der beiden abgemeldet oder ein Thema abbestellt, gilt das auch für " +
    "den, der bleibt.",
  Image: "Bild",
  Import: "Importieren",
  "Import a file, or add one here. Your programs can add them, too.":
    "Importieren Sie eine Datei, oder fügen Sie hier einen hinzu. Auch Ihre Programme können das.",
  "Import another file": "Weitere Datei importieren",
  "Import contacts": "Kontakte importieren",
  "Import suppressions": "Sperrliste importieren",
  "Import your contacts": "Kontakte importieren",
  "Import {count, plural, one {# row} other {# rows}}":
    "{count, plural, one {# Zeile} other {# Zeilen}} importieren",
  "Import {id}": "Import {id}",
  "Imported rows in per cent": "Importierte Zeilen in Prozent",
  Imports: "Importe",
  "Imports, exports and other long work": "Importe, Exporte und andere lange Aufgaben",
  "Improves delivery": "Verbessert die Zustellung",
  "In 30 days": "In 30 Tagen",
  "In 90 days": "In 90 Tagen",
  "in a moment": "gleich",
  "In a year": "In einem Jahr",
  "In all of them": "In allen",
  "In any of them": "In mindestens einem",
  "In it now": "Derzeit darin",
  "In no sequence": "In keiner Automation",
  "In several sequences": "In mehreren Automationen",
  "In templates: {code}": "In Vorlagen: {code}",
  "In the footer of marketing email. Without it, that of the organization.":
    "In der Fußzeile von Marketing-E-Mails. Ohne Angabe die der Organisation.",
  "In the footer of marketing email. Without it, the name of the site.":
    "In der Fußzeile von Marketing-E-Mails. Ohne Angabe der Name der Website.",
  "In the hold-out group": "In der Vergleichsgruppe",
  "In the last days": "In den letzten Tagen",
  "in the last {days, plural, one {# day} other {# days}}":
    "innerhalb {days, plural, one {des letzten Tages} other {der letzten # Tage}}",
  "In the latest event": "Im letzten Ereignis",
  "in the mail program": "im Mailprogramm",
  "In the time zone of each contact; for contacts without one, in {timezone}.":
    "In der Zeitzone jedes Kontakts; ohne bekannte Zeitzone in {timezone}.",
  "In the time zone of the contact, if it is known.":
    "In der Zeitzone des Kontakts, falls bekannt.",
  "In the time zone {timezone}": "In der Zeitzone {timezone}",
  "In the time zone {timezone}: {time}.": "In der Zeitzone {timezone}: {time}.",
  "In {provider}, open {place}. Turn on all events, and enter this address:":
    "Öffnen Sie bei {provider} {place}. Schalten Sie alle Ereignisse ein, und geben Sie " +
    "diese Adresse ein:",
  "In {timezone}.": "In {timezone}.",
  "Inboxes show it behind the subject.": "Steht im Posteingang hinter dem Betreff.",
  "Included in the plan": "Im Tarif enthalten",
  "Insert a field": "Feld einfügen",
  Instagram: "Instagram",
  "Invalid address": "Ungültige Adresse",
  Invitation: "Einladung",
  Invitations: "Einladungen",
  "Invite somebody": "Jemanden einladen",
  "invite team users roles": "einladen team benutzer rollen",
  "Invite your team": "Team einladen",
  Invoice: "Rechnung",
  Invoices: "Rechnungen",
  is: "ist",
  "is 0": "ist 0",
  "Is 0": "Ist 0",
  "is added by you": "von Ihnen hinzugefügt wird",
  "is added by your systems": "von Ihren Systemen hinzugefügt wird",
  "is after": "ist nach dem",
  "is another day than today": "ist nicht heute",
  "is any": "ist vorhanden",
  "is before": "ist vor dem",
  "is deleted, or you take it out under “Contacts”":
    "gelöscht wird oder Sie ihn unter „Kontakte“ herausnehmen",
  "is empty": "ist leer",
  "is filled in": "ist ausgefüllt",
  "Is in the list {list}": "Ist in der Liste {list}",
  "is in the next … day": "ist in höchstens … Tag",
  "is in the next … days": "ist in den nächsten … Tagen",
  "Is in the segment": "Ist im Segment",
  "is known": "ist bekannt",
  "is less than": "ist weniger als",
  "is more than": "ist mehr als",
  "is new": "neu ist",
  "is none": "ist nicht vorhanden",
  "is none of": "ist keines von",
  "is not": "ist nicht",
  "is not 0": "ist nicht 0",
  "Is not in the list {list}": "Ist nicht in der Liste {list}",
  "is not in the next … day": "ist nicht in höchstens … Tag",
  "is not in the next … days": "ist nicht in den nächsten … Tagen",
  "Is not in the segment": "Ist nicht im Segment",
  "is not known": "ist nicht bekannt",
  "is not subscribed": "ist nicht angemeldet",
  "is on": "ist am",
  "is on another day than": "ist nicht am",
  "is on or after": "ist am oder nach dem",
  "is on or before": "ist am oder vor dem",
  "is one of": "ist eines von",
  "Is stored in": "Wird gespeichert in",
  "is subscribed": "ist angemeldet",
  "is taken out by your systems": "von Ihren Systemen herausgenommen wird",
  "is today": "ist heute",
  "Is {value}": "Ist {value}",
  Issuer: "Aussteller",
  "It counts after": "Es zählt nach",
  "It does not happen until {time}": "Tritt bis {time} nicht ein",
  "It gets the lists, tags, events, score and sequences of {merged}, which is deleted.":
    "Listen, Tags, Ereignisse, Punktestand und Automationen kommen von {merged} hinzu; " +
    "dieser Kontakt wird gelöscht.",
  "It goes into the email as it is, with its fields filled. See it in the preview.":
    "Es kommt unverändert in die E-Mail, mit ausgefüllten Feldern. Die Vorschau zeigt es.",
  "It goes on when you leave the page or close the window.":
    "Sie laufen weiter, wenn Sie die Seite verlassen oder das Fenster schließen.",
  "It happened": "Eingetreten",
  "It happens": "Tritt ein",
  "It has HTML of its own, written by a program.":
    "Sie hat eigenes HTML, das ein Programm geschrieben hat.",
  "It has not been sent yet.": "Sie wurde noch nicht gesendet.",
  "It is in use, so it keeps its name and cannot be deleted. Take it out of these:":
    "Er wird verwendet, deshalb behält er seinen Namen und kann nicht gelöscht werden. " +
    "Nehmen Sie ihn hier heraus:",
  "It is made from the HTML when the email is sent.":
    "Er entsteht aus dem HTML, wenn die E-Mail gesendet wird.",
  "It is no longer part of “{name}”.": "Sie gehört nicht mehr zu „{name}“.",
  "It is not sent on {time}. This cannot be undone.":
    "Sie wird nicht am {time} gesendet. Das lässt sich nicht rückgängig machen.",
  "It is only decoration": "Es ist nur Dekoration",
  "It is picked after": "Ausgewählt nach",
  "It is read once when sending starts. The template shows it as {{ feed }}.":
    "Er wird zu Beginn des Versands einmal gelesen. Die Vorlage zeigt ihn als {{ feed }}.",
  "It is removed from {count, plural, one {# contact} other {# contacts}}. No contact is deleted.":
    "Wird von {count, plural, one {# Kontakt} other {# Kontakten}} entfernt. Es wird kein " +
    "Kontakt gelöscht.",
  "It is sent from 9:00, {timezone}.": "Versand ab 9:00 Uhr, {timezone}.",
  "It is sent once. Without a number, there is none.":
    "Sie wird einmal gesendet. Ohne Zahl gibt es keine.",
  "It is tried again on {next}.": "Der nächste Versuch ist am {next}.",
  "It is used here:": "Es wird hier verwendet:",
  "It may have been deleted, or the address is mistyped.":
    "Vielleicht wurde der Eintrag gelöscht, oder die Adresse ist falsch geschrieben.",
  "It sends nothing any more. Campaigns that it has sent stay, with their results.":
    "Sie sendet nichts mehr. Bereits gesendete Kampagnen bleiben mit ihren Ergebnissen " +
    "erhalten.",
  "It shows what is new in the feed. Without news, nothing is sent.":
    "Sie zeigt, was im Feed neu ist. Ohne Neues wird nichts gesendet.",
  "It starts the sequences {sequences}.": "Startet diese Automationen: {sequences}.",
  "It takes two minutes to get going.": "In zwei Minuten kann es losgehen.",
  "It waited for the sending times until {until}.": "Sie wartete bis {until} auf die Sendezeiten.",
  "It was sent": "Wurde gesendet",
  "It will have {width} × {height} pixels.": "Es wird {width} × {height} Pixel groß.",
  "It will not be sent.": "Sie wird nicht gesendet.",
  Italic: "Kursiv",
  "Items at a time": "Einträge auf einmal",
  "Its contacts stay.": "Die Kontakte bleiben erhalten.",
  "Its content becomes a new version. The current one stays in this list.":
    "Ihr Inhalt wird zu einer neuen Version. Die aktuelle bleibt in dieser Liste.",
  ["Its label and its type are deleted. Contacts keep their values, so it stays in the " +
    "list as “{name}”."]:
    "Beschriftung und Typ werden gelöscht. Die Kontakte behalten ihre Werte, daher bleibt " +
    "es als „{name}“ in der Liste.",
  "Its log and its figures are deleted as well. This cannot be undone.":
    "Auch Protokoll und Zahlen werden gelöscht. Das lässt sich nicht rückgängig machen.",
  "Its sum is shown with the conversions, such as the revenue of orders.":
    "Ihre Summe steht bei den Konversionen, etwa der Umsatz von Bestellungen.",
  "Its templates stay, without a folder.": "Seine Vorlagen bleiben, ohne Ordner.",
  ["Its mailbox takes no email for now: gets transactional email only until {liftsAt}, or " +
    "until an email is delivered."]:
    "Das Postfach nimmt derzeit keine E-Mails an: erhält nur Transaktions-E-Mails, bis {liftsAt} " +
    "oder bis eine E-Mail zugestellt wird.",
  ["Its {sent, plural, one {# email stays} other {# emails stay}} in the log, but the " +
    "figures and links of the campaign are gone."]:
    "{sent, plural, one {# E-Mail der Kampagne bleibt} other {# E-Mails der Kampagne " +
    "bleiben}} im Protokoll, aber ihre Zahlen und Links gehen verloren.",
  "Joined {topic}": "Für {topic} angemeldet",
  "joins the list {list}": "in die Liste {list} kommt",
  "JSON, for programs": "JSON, für Programme",
  "just now": "gerade eben",
  ["Keep these recovery codes where you find them without your phone. Each works once. " +
    "They are not shown again."]:
    "Bewahren Sie diese Wiederherstellungscodes dort auf, wo Sie sie ohne Ihr Telefon " +
    "finden. Jeder gilt einmal. Sie werden nicht noch einmal gezeigt.",
  Key: "Schlüssel",
  "Keyboard shortcuts": "Tastenkürzel",
  Kind: "Art",
  "Kinds of email that contacts can leave and join by themselves":
    "Arten von E-Mails, die Kontakte selbst bestellen und abbestellen können",
  "Known already or repeated": "Schon bekannt oder doppelt",
  Label: "Beschriftung",
  Language: "Sprache",
  "Language (optional)": "Sprache (optional)",
  "Language of the default": "Sprache der Standardfassung",
  "Language of the email": "Sprache der E-Mail",
  "Language of the other texts": "Sprache der übrigen Texte",
  Languages: "Sprachen",
  Large: "Groß",
  "Last click": "Letzter Klick",
  "Last email": "Letzte E-Mail",
  "Last name": "Nachname",
  "Last name (optional)": "Nachname (optional)",
  "Last open": "Letzte Öffnung",
  "Last opened": "Zuletzt geöffnet",
  "Last row": "Letzte Zeile",
  "Last run of {name}": "Letzter Lauf von {name}",
  "Last used": "Zuletzt verwendet",
  Late: "Verspätet",
  "Latest campaigns": "Letzte Kampagnen",
  "Latest event": "Letztes Ereignis",
  Layout: "Rahmen",
  "Layout: it stands around an email": "Rahmen: Er steht um eine E-Mail herum",
  "Lead score": "Punktestand",
  "Lead scoring": "Lead-Scoring",
  "Leads to": "Führt zu",
  "Leads to (optional)": "Führt zu (optional)",
  "Leave and lose the changes": "Verlassen und Änderungen verwerfen",
  "Leave organization": "Organisation verlassen",
  "Leave out": "Weglassen",
  "Leave without saving?": "Ohne Speichern verlassen?",
  "leaves a segment": "ein Segment verlässt",
  "Leaves the sequence": "Verlässt die Automation",
  "Leaves the sequence while it waits here": "Verlässt die Automation, während er hier wartet",
  Left: "Links",
  "Left as they were": "Unverändert",
  "Left in the period": "Abgänge im Zeitraum",
  "Left out": "Weggelassen",
  "Left {topic}": "Von {topic} abgemeldet",
  "Legal notice": "Rechtlicher Hinweis",
  "Let the provider report what happens": "Meldungen des Anbieters einrichten",
  "Let visitors of your pages sign up, with proof of consent":
    "Besucher Ihrer Seiten melden sich an, mit Nachweis der Einwilligung",
  "Letters, digits, spaces and _ . -": "Buchstaben, Ziffern, Leerzeichen und _ . -",
  Light: "Hell",
  "Limit {limitText}": "Grenze {limitText}",
  Line: "Zeile",
  "Line chart of opens and clicks. {summary}": "Liniendiagramm der Öffnungen und Klicks. {summary}",
  "Line chart: {delivered} emails delivered, {bounced} bounced.":
    "Liniendiagramm: {delivered} E-Mails zugestellt, {bounced} unzustellbar.",
  "Line chart: {delivered} emails delivered, {opened} opened, {clicked} clicked.":
    "Liniendiagramm: {delivered} E-Mails zugestellt, {opened} geöffnet, {clicked} geklickt.",
  "Line for your own page": "Zeile für Ihre eigene Seite",
  "Lines that are not valid": "Ungültige Zeilen",
  Link: "Link",
  "Link (optional)": "Link (optional)",
  "Link of the buttons in the emails (optional)": "Link der Buttons in den E-Mails (optional)",
  "Link to choose topics": "Link zur Themenauswahl",
  "Link to unsubscribe": "Abmeldelink",
  "Link to view in browser": "Link zur Browseransicht",
  "Link {number} leads to": "Link {number} führt zu",
  Links: "Links",
  ["Links are made darker or lighter where they could not be read. Dark mode has colours " +
    "of its own."]:
    "Links werden dunkler oder heller, wenn sie sonst nicht lesbar wären. Der Dunkelmodus " +
    "hat eigene Farben.",
  "Links for {label}": "Links für {label}",
  ["Links lead through Pennymail, and an invisible picture reports opens. If your " +
    "account at the provider tracks too, turn that off there."]:
    "Links führen über Pennymail, und ein unsichtbares Bild meldet Öffnungen. Wenn auch Ihr " +
    "Konto beim Anbieter misst, schalten Sie das dort aus.",
  "Links without an address are left out.": "Links ohne Adresse werden weggelassen.",
  "Liquid works, such as {{ firstName }} and {{ email }}.":
    "Liquid funktioniert, etwa {{ firstName }} und {{ email }}.",
  List: "Liste",
  list: "Liste",
  "List “{name}”": "Liste „{name}“",
  Lists: "Listen",
  "Lists and tags": "Listen und Tags",
  "Lists for all of them (optional)": "Listen für alle (optional)",
  Loading: "Wird geladen",
  "Loading the editor…": "Editor wird geladen …",
  Log: "Protokoll",
  "Log in": "Anmelden",
  "Log out": "Abmelden",
  Login: "Anmeldung",
  "logo colours fonts corners social links footer language look":
    "logo farben schriften ecken social-media-links fußzeile sprache aussehen",
  "Logos and photos that emails, forms and pages show":
    "Logos und Fotos für E-Mails, Formulare und Seiten",
  "Long text": "Langer Text",
  Look: "Aussehen",
  "Look up an email address": "E-Mail-Adresse nachschlagen",
  Lost: "Verloren",
  "Mail programs play no videos. The picture leads to it.":
    "Mailprogramme spielen keine Videos ab. Das Bild führt zum Video.",
  "Mail programs show it behind the subject. Liquid works.":
    "Mailprogramme zeigen ihn nach dem Betreff. Liquid funktioniert.",
  "Mailbox providers": "Postfachanbieter",
  Main: "Hauptnavigation",
  "Main, short": "Hauptnavigation, kurz",
  "Make {email} {role}": "{email} als {role} festlegen",
  "Mark links for website analytics": "Links für die Webanalyse markieren",
  Marketer: "Marketer",
  Marketing: "Marketing",
  "Marketing email": "Marketing-E-Mails",
  "Marketing email must show a postal address in many countries. Give the organization one.":
    "Marketing-E-Mails brauchen in vielen Ländern eine Postanschrift. Hinterlegen Sie eine " +
    "für die Organisation.",
  "Marks on contacts, given by you, your forms and your sequences":
    "Merkmale an Kontakten, vergeben von Ihnen, Ihren Formularen und Automationen",
  Media: "Medien",
  Medium: "Mittel",
  Member: "Mitglied",
  Members: "Mitglieder",
  "Members (optional)": "Mitglieder (optional)",
  "Members can start at {address}": "Mitglieder können unter {address} beginnen",
  "Members must sign in with the provider": "Mitglieder müssen sich über den Anbieter anmelden",
  "Members who signed in with the provider are signed out, and need a password.":
    "Mitglieder, die sich über den Anbieter angemeldet haben, werden abgemeldet und " +
    "brauchen ein Passwort.",
  Membership: "Zugehörigkeit",
  Menu: "Menü",
  "Merge contact": "Kontakt zusammenführen",
  "Merge contacts": "Kontakte zusammenführen",
  "Merge into": "Zusammenführen mit",
  "Merge into…": "Zusammenführen mit…",
  "Merge {email}": "{email} zusammenführen",
  "Message id": "Nachrichten-ID",
  Middle: "Mitte",
  minutes: "Minuten",
  "Minutes to months": "Minuten bis Monate",
  "Missing: the subject of the default is sent.":
    "Fehlt: Der Betreff der Standardfassung wird gesendet.",
  "Missing: {missing}": "Fehlt: {missing}",
  "MJML file": "MJML-Datei",
  Mon: "Mo",
  Monday: "Montag",
  "Monday to Friday": "Montag bis Freitag",
  "Month first: 11/20/2026": "Monat zuerst: 11/20/2026",
  More: "Mehr",
  "More actions": "Weitere Aktionen",
  "More than three columns now stand below each other.":
    "Mehr als drei Spalten stehen jetzt untereinander.",
  "Most opens came in the hour from {time}: {opens}.":
    "Die meisten Öffnungen gab es in der Stunde ab {time}: {opens}.",
  "Most opens came on {day}: {opens}.": "Die meisten Öffnungen gab es am {day}: {opens}.",
  "Move down": "Nach unten",
  "Move here": "Hierher verschieben",
  "Move to {name}": "Nach {name} verschieben",
  "Move up": "Nach oben",
  "Move {direction}":
    "{direction, select, up {Nach oben} down {Nach unten} other {{direction} verschieben}}",
  Name: "Name",
  "Name (optional)": "Name (optional)",
  "Name and sender": "Name und Absender",
  "Name for {header}": "Name für {header}",
  "Name of link {number}": "Name von Link {number}",
  "Name of the custom field": "Name des eigenen Feldes",
  "Name of the event": "Name des Ereignisses",
  "Name of the field": "Name des Feldes",
  "Name of the property": "Name der Eigenschaft",
  "Name on the logo": "Name auf dem Logo",
  "Name or description": "Name oder Beschreibung",
  "Name the event.": "Benennen Sie das Ereignis.",
  "Name the events and complete the conditions.":
    "Benennen Sie die Ereignisse und vervollständigen Sie die Bedingungen.",
  "Name the field.": "Benennen Sie das Feld.",
  "Name the list that the products come from.":
    "Geben Sie die Liste an, aus der die Produkte kommen.",
  "Name the new field for the column “{header}”.":
    "Benennen Sie das neue Feld für die Spalte „{header}“.",
  "Name the site or brand that you send for": "Website oder Marke benennen, für die Sie senden",
  "name time zone sign out": "name zeitzone abmelden",
  "Names of the provider's signature records (DKIM selectors)":
    "Namen der Signatureinträge des Anbieters (DKIM-Selektoren)",
  Narrow: "Schmal",
  "Needs attention": "Handlungsbedarf",
  Never: "Nie",
  "Never start again": "Beginnen nie wieder",
  "Never subscribed": "Nie angemeldet",
  New: "Neu",
  "New API key": "Neuer API-Schlüssel",
  "New campaign": "Neue Kampagne",
  "New contact field": "Neues Kontaktfeld",
  "New contacts were added, known ones changed":
    "Neue Kontakte wurden hinzugefügt, bekannte geändert",
  "New domain": "Neue Domain",
  "New field": "Neues Feld",
  "New folder": "Neuer Ordner",
  "New form": "Neues Formular",
  "New holiday email": "Neue Feiertags-E-Mail",
  "New import": "Neuer Import",
  "New list": "Neue Liste",
  "New password": "Neues Passwort",
  "New picture": "Neues Bild",
  "New recovery codes": "Neue Wiederherstellungscodes",
  "New rule": "Neue Regel",
  "New secret": "Neues Geheimnis",
  "New segment": "Neues Segment",
  "New sender": "Neuer Absender",
  "New sequence": "Neue Automation",
  "New snippet": "Neuer Baustein",
  "New summary": "Neue Zusammenfassung",
  "New tag": "Neues Tag",
  "New template": "Neue Vorlage",
  "New topic": "Neues Thema",
  "New webhook": "Neuer Webhook",
  News: "Neuigkeiten",
  "News from a feed (RSS or Atom)": "Neues aus einem Feed (RSS oder Atom)",
  Newsletter: "Newsletter",
  Next: "Nächster Termin",
  "Next email": "Nächste E-Mail",
  "Next or oldest": "Nächste oder älteste",
  "Next row": "Nächste Zeile",
  "Next {time} ({timezone})": "Nächster Termin {time} ({timezone})",
  No: "Nein",
  "No action yet": "Noch keine Aktion",
  "No address is suppressed": "Keine Adresse ist gesperrt",
  "No address with this reason": "Keine Adresse mit diesem Grund",
  "No campaign and no sequence goes to the contact any more. Transactional email does.":
    "Kampagnen und Automationen gehen nicht mehr an den Kontakt, transaktionale E-Mails schon.",
  "No campaign or sequence has email that waits.":
    "Keine Kampagne oder Automation hat wartende E-Mails.",
  "No campaign yet": "Noch keine Kampagne",
  "No condition yet": "Noch keine Bedingung",
  "No contact has this status at this step.": "Kein Kontakt hat diesen Status bei diesem Schritt.",
  "No contact is at a step that changes.": "Kein Kontakt ist bei einem Schritt, der sich ändert.",
  "No contact is in this report now.": "In diesem Bericht steht derzeit kein Kontakt.",
  "No contact matches": "Kein Kontakt gefunden",
  "No contacts yet": "Noch keine Kontakte",
  "No date": "Kein Datum",
  "No day yet": "Noch kein Tag",
  "No delivery has this status.": "Keine Zustellung hat diesen Status.",
  "No email comes before": "Davor kommt keine E-Mail",
  "No email goes to the address any more, from any site, not even transactional email.":
    "An die Adresse geht von keiner Website mehr eine E-Mail, auch keine transaktionale.",
  "No email in this period": "Keine E-Mail in diesem Zeitraum",
  "No email matches": "Keine E-Mail gefunden",
  "No email matches.": "Keine passende E-Mail.",
  "No email was sent": "Keine E-Mail gesendet",
  "No email was sent yet.": "Es wurde noch keine E-Mail gesendet.",
  "No email yet": "Noch keine E-Mail",
  "No emails in the period before": "Keine E-Mails im Zeitraum davor",
  "No entry": "Kein Eintrag",
  "No event matches": "Kein Ereignis gefunden",
  "No event yet": "Noch kein Ereignis",
  "No field": "Kein Feld",
  "No figures over time yet.": "Noch keine Zahlen zum Zeitverlauf.",
  "No form yet": "Noch kein Formular",
  "No holiday email yet": "Noch keine Feiertags-E-Mail",
  "No language": "Keine Sprache",
  "No list": "Keine Liste",
  "No list has this name": "Keine Liste heißt so",
  "No list yet": "Noch keine Liste",
  "No list, tag or segment has this name.": "Keine Liste, kein Tag und kein Segment heißt so.",
  "No longer interested": "Kein Interesse mehr",
  "No mailbox provider has answered yet.": "Noch hat kein Postfachanbieter geantwortet.",
  "No member has this name": "Kein Mitglied heißt so",
  "No new items: nothing would be sent now. The latest items, as an example:":
    "Keine neuen Einträge: Jetzt würde nichts gesendet. Die letzten Einträge als Beispiel:",
  "No other sequence has this name": "Keine andere Automation heißt so",
  "No photo matches.": "Kein Foto gefunden.",
  "No picture matches": "Kein Bild gefunden",
  "No picture matches.": "Kein passendes Bild.",
  "No picture yet": "Noch kein Bild",
  "No picture yet.": "Noch kein Bild.",
  "No report of the provider yet": "Noch keine Meldung des Anbieters",
  "No request": "Keine Anfrage",
  "No rule yet": "Noch keine Regel",
  "No segment yet": "Noch kein Segment",
  "No segment, sequence, template, form or campaign that is still to be sent uses it.":
    "Kein Segment, keine Automation, keine Vorlage, kein Formular und keine noch " +
    "ausstehende Kampagne verwendet es.",
  "No sequence": "Keine Automation",
  "No sequence has this status": "Keine Automation hat diesen Status",
  "No sequence yet": "Noch keine Automation",
  "No site yet": "Noch keine Website",
  "No snippet matches": "Kein Baustein passt",
  "No snippet yet": "Noch kein Baustein",
  "No submission yet": "Noch keine Einsendung",
  "No subscribed contact is found": "Kein angemeldeter Kontakt gefunden",
  "No such mailbox": "Postfach existiert nicht",
  "No tag has this name": "Kein Tag heißt so",
  "No tag yet": "Noch kein Tag",
  "No template has this name": "Keine Vorlage heißt so",
  "No template matches": "Keine Vorlage gefunden",
  "No template yet": "Noch keine Vorlage",
  "No time yet": "Noch keine Dauer",
  "No topic": "Kein Thema",
  "No topic has this name": "Kein Thema heißt so",
  "No topic yet": "Noch kein Thema",
  "No webhook yet": "Noch kein Webhook",
  Nobody: "Niemand",
  "Nobody can be added any more, and {stay}. You can activate it again.":
    "Niemand kann mehr hinzugefügt werden, und {stay}. Sie können sie wieder aktivieren.",
  "Nobody found": "Niemand gefunden",
  "Nobody gets it from now on. What is already with the provider arrives. This cannot be undone.":
    "Ab jetzt erhält sie niemand mehr. Was schon beim Anbieter ist, kommt noch an. Das " +
    "lässt sich nicht rückgängig machen.",
  "Nobody has clicked a link yet.": "Noch niemand hat auf einen Link geklickt.",
  "Nobody has opened it yet.": "Noch niemand hat sie geöffnet.",
  "Nobody here": "Niemand hier",
  "Nobody is in this list.": "In dieser Liste ist niemand.",
  "Nobody is left out": "Niemand ist ausgenommen",
  "Nobody of the hold-out group has converted yet.":
    "In der Vergleichsgruppe gab es noch keine Conversion.",
  "Nobody records them": "Niemand erfasst sie",
  "Nobody starts, and {stay} until you activate the sequence again.":
    "Niemand beginnt, und {stay}, bis Sie die Automation wieder aktivieren.",
  "Nobody would get this campaign now.": "Derzeit würde niemand diese Kampagne erhalten.",
  None: "Keine",
  "None has this name": "Nichts heißt so",
  Normal: "Normal",
  "Not clicked": "Nicht geklickt",
  "Not clicked in {email}": "In {email} nicht geklickt",
  "Not complete yet: {problem}": "Noch nicht vollständig: {problem}",
  "Not confirmed": "Nicht bestätigt",
  "not confirmed": "nicht bestätigt",
  "Not delivered: status {status}": "Nicht zugestellt: Status {status}",
  "Not delivered: {error}": "Nicht zugestellt: {error}",
  "Not engaged": "Ohne Interaktion",
  "Not in audience": "Nicht im Empfängerkreis",
  "Not in topic": "Thema nicht abonniert",
  "Not in {duration}": "{duration} ohne Ereignis",
  "Not known": "Nicht bekannt",
  "Not matched": "Nicht zugeordnet",
  "Not needed so far": "Bisher nicht nötig",
  "Not now": "Nicht jetzt",
  "Not opened": "Nicht geöffnet",
  "Not opened {email}": "{email} nicht geöffnet",
  "Not saved yet": "Noch nicht gespeichert",
  "Not scheduled": "Nicht geplant",
  "Not sent": "Nicht gesendet",
  "Not sent: on the suppression list of the provider":
    "Nicht gesendet: auf der Sperrliste des Anbieters",
  "Not set": "Nicht gesetzt",
  "Not signed in": "Nicht angemeldet",
  "Not subscribed to the topic": "Nicht für das Thema angemeldet",
  "Not tested": "Nicht getestet",
  "Not valid": "Ungültig",
  "Note (optional)": "Notiz (optional)",
  "Note for yourself (optional)": "Eigene Notiz (optional)",
  "Nothing has this name here. Try fewer letters.":
    "Nichts heißt hier so. Versuchen Sie es mit weniger Buchstaben.",
  "Nothing is sent. Times are in {timezone}.":
    "Es wird nichts gesendet. Zeiten gelten in {timezone}.",
  "Nothing new": "Nichts Neues",
  "Nothing uses it yet. Add the block “Snippet” to an email to have it there.":
    "Noch verwendet ihn nichts. Fügen Sie einer E-Mail den Block „Baustein“ hinzu, damit " +
    "er dort erscheint.",
  "Nothing was delivered yet.": "Noch wurde nichts zugestellt.",
  "Nothing was found.": "Nichts gefunden.",
  notice: "Hinweis",
  Now: "Jetzt",
  Number: "Zahl",
  "Number of days": "Anzahl Tage",
  "Number to add": "Zu addierende Zahl",
  "Numbers of the step": "Zahlen des Schritts",
  "Of new designs, and of pages when that of the reader is not known.":
    "Für neue Designs, und für Seiten, wenn die Sprache der Leser nicht bekannt ist.",
  "Of the campaign (optional)": "Der Kampagne (optional)",
  "of these hold": "davon treffen zu",
  "of these holds": "davon trifft zu",
  "Of {sampled} contacts": "Von {sampled} Kontakten",
  Off: "Aus",
  "Offer a pause": "Pause anbieten",
  Oldest: "Älteste",
  On: "Ein",
  ["On a day such as New Year, contacts in a sequence get this email. Their sequence goes " +
    "on as planned."]:
    "An einem Tag wie Neujahr erhalten Kontakte in einer Automation diese E-Mail. Ihre " +
    "Automation läuft weiter wie geplant.",
  "On day {dayOfMonth} of each month": "Am {dayOfMonth}. jedes Monats",
  "On days of the week": "An Wochentagen",
  "On the clock of each contact.": "Nach der Uhr jedes Kontakts.",
  "On the first of each month": "Am Ersten jedes Monats",
  "on the preference page": "auf der Seite für E-Mail-Einstellungen",
  "On the suppression list": "Auf der Sperrliste",
  "On this screen": "Auf dieser Seite",
  ["On {time}, variant {variant} won: it had the most {measure, select, open {opens} " +
    "click {clicks} other {conversions}} ({rates})."]:
    "Am {time} hat Variante {variant} gewonnen: Sie hatte die meisten {measure, select, " +
    "open {Öffnungen} click {Klicks} other {Conversions}} ({rates}).",
  ["On {time}, variant {variant} won: the best variants were equal, and it has the " +
    "greatest share or came first ({rates})."]:
    "Am {time} hat Variante {variant} gewonnen: Die besten Varianten lagen gleichauf, und " +
    "sie hat den größten Anteil oder kam zuerst ({rates}).",
  ["On {time}, variant {variant} won: there were no {measure, select, open {opens} click " +
    "{clicks} other {conversions}}, and it has the greatest share or came first ({rates})."]:
    "Am {time} hat Variante {variant} gewonnen: Es gab keine {measure, select, open " +
    "{Öffnungen} click {Klicks} other {Conversions}}, und sie hat den größten Anteil oder " +
    "kam zuerst ({rates}).",
  "Once a month": "Einmal im Monat",
  "Once email is sent, this report says how much of it arrives, and why some does not.":
    "Sobald E-Mails gesendet sind, zeigt dieser Bericht, wie viele ankommen und warum " +
    "manche nicht.",
  "One column must be named email. Columns reason and detail are read, too.":
    "Eine Spalte muss email heißen. Die Spalten reason und detail werden auch gelesen.",
  "One email in {days, plural, one {# day} other {# days}}":
    "Eine E-Mail in {days, plural, one {# Tag} other {# Tagen}}",
  "One email on a day, to all contacts that are in a sequence on that day":
    "Eine E-Mail an einem Tag, an alle Kontakte, die dann in einer Automation sind",
  "One email to many contacts": "Eine E-Mail an viele Kontakte",
  "One email with all items": "Eine E-Mail mit allen Einträgen",
  "One for each of {list}, at most {most}": "Je eines aus {list}, höchstens {most}",
  "One in each line, with | between its cells.": "Eine pro Textzeile, Zellen durch | getrennt.",
  "One is true": "Eine zutrifft",
  "One message and one button": "Eine Botschaft und ein Button",
  "One or two sentences about it.": "Ein, zwei Sätze dazu.",
  "Only add new contacts, leave known ones as they are":
    "Nur neue Kontakte hinzufügen, bekannte nicht ändern",
  "Only change known contacts, add nobody": "Nur bekannte Kontakte ändern, keine hinzufügen",
  "Only contacts who get this topic. They can leave it and stay subscribed.":
    "Nur Kontakte, die dieses Thema erhalten. Sie können es abbestellen und trotzdem " +
    "angemeldet bleiben.",
  "Only contacts who match conditions": "Nur Kontakte, die Bedingungen erfüllen",
  "Only events that match conditions": "Nur Ereignisse, die Bedingungen erfüllen",
  "Only for contacts who agreed to it.": "Nur für Kontakte, die zugestimmt haben.",
  "Only if they asked for it. It also lifts their suppression.":
    "Nur, wenn sie darum gebeten haben. Hebt auch ihre Sperre auf.",
  "Only if {condition}": "Nur wenn {condition}",
  "Only known contacts were changed": "Nur bekannte Kontakte wurden geändert",
  "Only new contacts were added": "Nur neue Kontakte wurden hinzugefügt",
  "Only people who get an email about it see it": "Nur für Empfänger einer E-Mail dazu sichtbar",
  "Only the selected": "Nur die ausgewählten",
  "Only these sites (optional)": "Nur diese Websites (optional)",
  "Only with a property": "Nur mit Eigenschaft",
  Open: "Geöffnet",
  "Open draft": "Entwurf öffnen",
  "Open its page": "Seite öffnen",
  "Open the row": "Zeile öffnen",
  Opened: "Geöffnet",
  "Opened {email}": "{email} geöffnet",
  Opens: "Öffnungen",
  "Opens an email": "Öffnet eine E-Mail",
  "opens an email": "eine E-Mail öffnet",
  "Opens and clicks": "Öffnungen und Klicks",
  "Opens and clicks over time": "Öffnungen und Klicks im Zeitverlauf",
  "Opens it": "Öffnet sie",
  Operate: "Betrieb",
  Operator: "Betreiber",
  "Or paste addresses, one per line": "Oder Adressen einfügen, eine pro Zeile",
  "Or paste rows": "Oder Zeilen einfügen",
  "Order of dates": "Reihenfolge im Datum",
  Organization: "Organisation",
  "Organization (optional)": "Organisation (optional)",
  "Organization {id}": "Organisation {id}",
  Origin: "Herkunft",
  Other: "Andere",
  "Other emails of the site can have it too. A change of the snippet appears in all of them.":
    "Auch andere E-Mails der Website können ihn enthalten. Änderungen am Baustein " +
    "erscheinen in allen.",
  "Other organizations": "Andere Organisationen",
  Outcome: "Ergebnis",
  "Outside of them, contacts wait for the next opening.":
    "Außerhalb warten Kontakte auf das nächste Zeitfenster.",
  "Own fields": "Eigene Felder",
  "Own page for unsubscribing (optional)": "Eigene Abmeldeseite (optional)",
  Owner: "Inhaber",
  Ownership: "Inhaberschaft",
  Page: "Seite",
  "Page down": "Bild ab",
  "Page of the form": "Seite des Formulars",
  "Page up": "Bild auf",
  "Page with the brand": "Seite mit der Marke",
  "Part of the audience": "Teil des Empfängerkreises",
  "Part of the audience gets variants of the email. Later, the others get the best one.":
    "Ein Teil des Empfängerkreises erhält Varianten der E-Mail. Die übrigen erhalten " +
    "später die beste.",
  "Part of the name": "Teil des Namens",
  "Part of the name or the description": "Teil des Namens oder der Beschreibung",
  "Parts in {name}": "Teile in {name}",
  "Parts of the email": "Teile der E-Mail",
  "Parts of the sequence": "Teile der Automation",
  "Parts of the snippet": "Teile des Bausteins",
  Passed: "Durchgelaufen",
  Password: "Passwort",
  "password two-step second factor mfa authenticator recovery codes sessions":
    "passwort zwei schritte zweiter faktor mfa authenticator wiederherstellungscodes sitzungen",
  "Paste steps after the step": "Schritte nach dem Schritt einfügen",
  "Paste {count, plural, one {# step} other {# steps}}":
    "{count, plural, one {# Schritt} other {# Schritte}} einfügen",
  "Pasted rows": "Eingefügte Zeilen",
  Pause: "Pausieren",
  "Pause campaign": "Kampagne pausieren",
  "Pause sequence": "Automation pausieren",
  "Pause {record}": "{record} pausieren",
  Paused: "Pausiert",
  "paused by the contact": "vom Kontakt pausiert",
  "Paused marketing email": "Marketing-E-Mails pausiert",
  "Paused marketing email until {snoozedUntil}.": "Marketing-E-Mails bis {snoozedUntil} pausiert.",
  "Paused marketing email until {until}": "Marketing-E-Mails bis {until} pausiert",
  Payment: "Zahlung",
  "Payment method and tax details": "Zahlungsmittel und Steuerdaten",
  PDF: "PDF",
  Pending: "Ausstehend",
  "Pending: they have not confirmed yet": "Ausstehend: Sie haben noch nicht bestätigt",
  "Pennymail records them": "Pennymail erfasst sie",
  Period: "Zeitraum",
  Person: "Person",
  Phone: "Telefon",
  "Photo by {photographer}": "Foto von {photographer}",
  "Photos by Pexels. The chosen one is copied, so that its address never changes.":
    "Fotos von Pexels. Das gewählte Foto wird kopiert, damit seine Adresse gleich bleibt.",
  Picture: "Bild",
  Pictures: "Bilder",
  "Pictures in the background were left out.": "Hintergrundbilder wurden weggelassen.",
  "Pictures that you add here or in an email can be used in every email.":
    "Bilder, die Sie hier oder in einer E-Mail hinzufügen, lassen sich in jeder E-Mail " +
    "verwenden.",
  "Pieces that several emails have in common": "Teile, die mehrere E-Mails gemeinsam haben",
  "Place in the JSON of the response": "Stelle im JSON der Antwort",
  "Plain text": "Nur-Text",
  Plan: "Tarif",
  "plan credits invoice payment usage": "tarif guthaben rechnung zahlung verbrauch",
  "Plan of the warm-up": "Plan des Aufwärmens",
  Plans: "Tarife",
  ["Plans and credits cannot be bought: the setting STRIPE_SECRET_KEY of this " +
    "installation is missing. Only operators see this."]:
    "Tarife und Guthaben lassen sich nicht kaufen: Dieser Installation fehlt die " +
    "Einstellung STRIPE_SECRET_KEY. Nur Betreiber sehen das.",
  "Play the video": "Video abspielen",
  "Point: 1,299.90": "Punkt: 1,299.90",
  Points: "Punkte",
  "Points for what contacts do; the sum is their score in lists, segments and sequences":
    "Punkte für das, was Kontakte tun; die Summe ist ihr Punktestand in Listen, Segmenten " +
    "und Automationen",
  "Policy (DMARC)": "Richtlinie (DMARC)",
  "Poor reputation": "Schlechte Reputation",
  "Postal address": "Postanschrift",
  "Postal address (optional)": "Postanschrift (optional)",
  "postal address footer unsubscribe branding":
    "postanschrift fußzeile abmelden abmeldung branding",
  "Preference page": "E-Mail-Einstellungen",
  "Preference page of {name}": "E-Mail-Einstellungen von {name}",
  Preview: "Vorschau",
  "Preview of the email": "Vorschau der E-Mail",
  "Preview of the snippet": "Vorschau des Bausteins",
  "Preview text": "Vorschautext",
  "Preview text (optional)": "Vorschautext (optional)",
  "Preview text ({name})": "Vorschautext ({name})",
  "Preview the next email": "Nächste E-Mail ansehen",
  "Preview: {subject}": "Vorschau: {subject}",
  Previews: "Vorschauen",
  "Previous row": "Vorherige Zeile",
  Price: "Preis",
  Processing: "In Bearbeitung",
  "Product update": "Produkt-Update",
  Products: "Produkte",
  Program: "Programm",
  "Programs need a key to call the API.":
    "Programme brauchen einen Schlüssel, um die API aufzurufen.",
  ["Programs need an API key from the settings to call the API. Their calls appear here " +
    "within 20 seconds."]:
    "Programme brauchen einen API-Schlüssel aus den Einstellungen, um die API aufzurufen. " +
    "Ihre Aufrufe erscheinen hier innerhalb von 20 Sekunden.",
  "Programs of yours that are told what happens": "Ihre Programme, die erfahren, was geschieht",
  "Programs that use this key are refused within 5 seconds. This cannot be undone.":
    "Programme mit diesem Schlüssel werden innerhalb von 5 Sekunden abgewiesen. Das lässt " +
    "sich nicht rückgängig machen.",
  "programs token": "programme token",
  "Programs with an expired key are refused.":
    "Programme mit einem abgelaufenen Schlüssel werden abgewiesen.",
  Progress: "Fortschritt",
  "Properties of the event": "Eigenschaften des Ereignisses",
  "Properties of “the event”": "Eigenschaften des Ereignisses",
  "Properties of “{event}”": "Eigenschaften von „{event}“",
  Property: "Eigenschaft",
  "Property with the revenue (optional)": "Eigenschaft mit dem Umsatz (optional)",
  "Property with the value (optional)": "Eigenschaft mit dem Wert (optional)",
  "Property, such as total": "Eigenschaft, z. B. total",
  "Protection against bots": "Schutz vor Bots",
  "Prove that the sender's domain is yours":
    "Nachweisen, dass die Domain des Absenders Ihnen gehört",
  Provider: "Anbieter",
  "provider from address sending config webhook":
    "anbieter absenderadresse versand konfiguration webhook",
  "Public archive": "Öffentliches Archiv",
  Publish: "Veröffentlichen",
  "Publish draft": "Entwurf veröffentlichen",
  "Publish sequence draft": "Entwurf der Automation veröffentlichen",
  "Put away finished": "Fertige ausblenden",
  "QR code of the key": "QR-Code des Schlüssels",
  Queue: "Warteschlange",
  Queued: "In Warteschlange",
  Queues: "Warteschlangen",
  Rate: "Rate",
  Reached: "Erreicht",
  "reaches the score {score}": "den Punktestand {score} erreicht",
  Reaction: "Reaktion",
  read: "lesen",
  "Read more": "Mehr erfahren",
  "Read on": "Weiterlesen",
  "Read only": "Nur lesen",
  "Read the story": "Zur Geschichte",
  "Read, and change nothing": "Lesen und nichts ändern",
  "Reading the file": "Datei wird gelesen",
  Reason: "Grund",
  "Reason: {reason}": "Grund: {reason}",
  "Reason: {reason}, “{comment}”": "Grund: {reason}, „{comment}“",
  "Reasons of bounces": "Gründe für Bounces",
  Receipt: "Beleg",
  Recipient: "Empfänger",
  Recipients: "Empfänger",
  "Recipients of <link>the first campaign</link> who have not opened it.":
    "Empfänger <link>der ersten Kampagne</link>, die sie nicht geöffnet haben.",
  "Recipients of <link>the first campaign</link> whose email failed.":
    "Empfänger <link>der ersten Kampagne</link>, deren E-Mail fehlgeschlagen ist.",
  Record: "Datensatz",
  Records: "Datensätze",
  "Recurring campaigns": "Wiederkehrende Kampagnen",
  Redo: "Wiederholen",
  "Refuse marketing email without a postal address":
    "Marketing-E-Mails ohne Postanschrift ablehnen",
  Refused: "Abgelehnt",
  "Refused because of its content, size or an attachment":
    "Wegen Inhalt, Größe oder Anhang abgelehnt",
  "Refused because of its sender": "Wegen des Absenders abgelehnt",
  "Refused rows": "Abgelehnte Zeilen",
  "Refused the sender": "Absender abgelehnt",
  Reminder: "Erinnerung",
  Remove: "Entfernen",
  "Remove a tag": "Tag entfernen",
  "Remove condition {number}": "Bedingung {number} entfernen",
  "Remove exit {number}": "Ausstieg {number} entfernen",
  "Remove from a list": "Aus einer Liste entfernen",
  "Remove from list": "Aus Liste entfernen",
  "Remove from the list {list}": "Aus der Liste {list} entfernen",
  "Remove from the suppressions": "Von der Sperrliste entfernen",
  "Remove goal {number}": "Ziel {number} entfernen",
  "Remove group": "Gruppe entfernen",
  "Remove link {number}": "Link {number} entfernen",
  "Remove member": "Mitglied entfernen",
  "Remove stored value {number}": "Gespeicherten Wert {number} entfernen",
  "Remove tag": "Tag entfernen",
  "Remove the brand": "Marke entfernen",
  "Remove the condition on {label}": "Bedingung zu {label} entfernen",
  "Remove the link": "Link entfernen",
  "Remove the property {name}": "Eigenschaft {name} entfernen",
  "Remove the tag {tag}": "Tag {tag} entfernen",
  "Remove variant {name}": "Variante {name} entfernen",
  "Remove way {way}": "Weg {way} entfernen",
  "Remove {email}": "{email} entfernen",
  "Remove {filename}": "{filename} entfernen",
  "Remove {name}": "{name} entfernen",
  Rename: "Umbenennen",
  "Rename campaign": "Kampagne umbenennen",
  "Rename folder": "Ordner umbenennen",
  "Rename list": "Liste umbenennen",
  "Rename snippet": "Baustein umbenennen",
  "Rename {name}": "{name} umbenennen",
  "Renews on {date}.": "Verlängert sich am {date}.",
  "Replace recovery codes": "Wiederherstellungscodes ersetzen",
  "Replace the address": "Adresse ersetzen",
  "Replies to (optional)": "Antworten an (optional)",
  "Reply to this email if you have a question: a person reads it":
    "Antworten Sie auf diese E-Mail, wenn Sie Fragen haben: Ein Mensch liest mit",
  "Reply received": "Antwort empfangen",
  "Report schedule": "Berichtszeitplan",
  "Reported as spam": "Als Spam gemeldet",
  "receive replies bounce mailbox imap forward mx":
    "empfangen Antworten Bounce-Postfach IMAP weiterleiten MX",
  "reported by the provider": "vom Anbieter gemeldet",
  "Reported contacts": "Kontakte des Berichts",
  Reports: "Berichte",
  "Reports by email": "Berichte per E-Mail",
  "Reports of providers whose email was not found":
    "Meldungen von Anbietern, zu denen keine E-Mail gefunden wurde",
  "Reports, days and scheduled campaigns use it.":
    "Berichte, Tage und geplante Kampagnen richten sich danach.",
  "Reputation is not known": "Reputation nicht bekannt",
  Request: "Anfrage",
  "Request id": "Anfrage-ID",
  "Request log": "Anfrageprotokoll",
  "Request password reset": "Zurücksetzen des Passworts anfordern",
  "Request {id}": "Anfrage {id}",
  Requests: "Anfragen",
  "Requests are signed as webhooks are, with the secret of this sequence.":
    "Anfragen werden wie Webhooks signiert, mit dem Geheimnis dieser Automation.",
  Required: "Pflichtfeld",
  Resend: "Erneut senden",
  "Resend invitation": "Einladung erneut senden",
  "Resend to those who did not open": "Erneut an alle ohne Öffnung senden",
  "Resend where it failed": "Fehlgeschlagene erneut senden",
  "Resent to those who did not open": "Erneut an alle ohne Öffnung gesendet",
  "Resent where it failed": "Fehlgeschlagene erneut gesendet",
  "Reset password": "Passwort zurücksetzen",
  "Resolve send": "Versand klären",
  Restore: "Wiederherstellen",
  "Restore version {version}": "Version {version} wiederherstellen",
  "Restore {record}": "{record} wiederherstellen",
  Result: "Ergebnis",
  Results: "Ergebnisse",
  "Results of the ways": "Ergebnisse der Wege",
  Resume: "Fortsetzen",
  "Resume campaign": "Kampagne fortsetzen",
  "Resume {record}": "{record} fortsetzen",
  Revenue: "Umsatz",
  Revoke: "Widerrufen",
  "Revoke API key": "API-Schlüssel widerrufen",
  "Revoke invitation": "Einladung widerrufen",
  "Revoke session": "Sitzung beenden",
  "Revoke {name}": "{name} widerrufen",
  Right: "Rechts",
  Rights: "Rechte",
  Role: "Rolle",
  "Role of a new member (optional)": "Rolle neuer Mitglieder (optional)",
  "Role of {email}": "Rolle von {email}",
  "Rotate webhook secret": "Webhook-Geheimnis erneuern",
  Round: "Rund",
  Route: "Route",
  Row: "Zeile",
  Rows: "Zeilen",
  Rule: "Regel",
  "Rule “{name}”": "Regel „{name}“",
  Running: "Läuft",
  Sale: "Angebote",
  Sat: "Sa",
  Saturday: "Samstag",
  Save: "Speichern",
  "Save address": "Anschrift speichern",
  "Save as a snippet": "Als Baustein speichern",
  "Save as draft": "Als Entwurf speichern",
  "Save contact": "Kontakt speichern",
  "Save draft": "Entwurf speichern",
  "Save field": "Feld speichern",
  "Save form": "Formular speichern",
  "Save goals and exits": "Ziele und Ausstiege speichern",
  "Save holiday email": "Feiertags-E-Mail speichern",
  "Save list": "Liste speichern",
  "Save mine over theirs": "Meine trotzdem speichern",
  "Save my seat": "Platz sichern",
  "Save name": "Namen speichern",
  "Save name and sender": "Name und Absender speichern",
  "Save news": "Feed speichern",
  "Save organization": "Organisation speichern",
  "Save page": "Seite speichern",
  "Save picture": "Bild speichern",
  "Save provider": "Anbieter speichern",
  "Save rule": "Regel speichern",
  "Save segment": "Segment speichern",
  "Save sender": "Absender speichern",
  "Save sending times": "Sendezeiten speichern",
  "Save site": "Website speichern",
  "Save sites": "Websites speichern",
  "Save snippet": "Baustein speichern",
  "Save start": "Start speichern",
  "Save steps": "Schritte speichern",
  "Save template": "Vorlage speichern",
  "Save the date": "Termin vormerken",
  "Save the segment to see who they are.": "Speichern Sie das Segment, um zu sehen, wer es ist.",
  "Save the steps": "Die Schritte speichern",
  "Save times": "Zeiten speichern",
  "Save topic": "Thema speichern",
  "Save webhook": "Webhook speichern",
  "Save {name} as a snippet": "{name} als Baustein speichern",
  Saved: "Gespeichert",
  Saving: "Wird gespeichert",
  "Say how long to wait at most.": "Geben Sie an, wie lange höchstens gewartet wird.",
  "Say how long to wait.": "Geben Sie an, wie lange gewartet wird.",
  "Say how many points.": "Geben Sie an, wie viele Punkte.",
  "Say it in one line": "Sagen Sie es in einer Zeile",
  "Say what is stored where.": "Geben Sie an, was wo gespeichert wird.",
  "Say what people can do now that they could not do before.":
    "Schreiben Sie, was jetzt möglich ist und vorher nicht ging.",
  "Scan this with your app, or enter the key, then enter the code that the app shows.":
    "Scannen Sie dies mit Ihrer App oder geben Sie den Schlüssel ein, dann den Code, den " +
    "die App zeigt.",
  "Schedule campaign": "Kampagne planen",
  "Schedule for {count, plural, one {# contact} other {# contacts}}":
    "Für {count, plural, one {# Kontakt} other {# Kontakte}} planen",
  Scheduled: "Geplant",
  "Scheduled for": "Geplant für",
  "Scheduled for {time}": "Geplant für {time}",
  Score: "Punktestand",
  "Scoring rule": "Scoring-Regel",
  "Scoring rules": "Scoring-Regeln",
  "Screen readers read it so, and the footer with the unsubscribe link is in it.":
    "Bildschirmleser lesen sie in dieser Sprache vor; auch die Fußzeile mit dem " +
    "Abmeldelink erscheint darin.",
  "Screen, setting, name or email address": "Seite, Einstellung, Name oder E-Mail-Adresse",
  Search: "Suchen",
  "Search and act": "Suchen und ausführen",
  "Search by address or name. Only subscribed contacts can be added.":
    "Nach Adresse oder Name suchen. Nur angemeldete Kontakte lassen sich hinzufügen.",
  "Search by email or name": "E-Mail oder Namen suchen",
  "Search by name": "Nach Name suchen",
  "Search contacts": "Kontakte suchen",
  "Search email or name": "E-Mail oder Namen suchen",
  "Search photos": "Fotos suchen",
  "Search pictures": "Bilder suchen",
  "Search snippets": "Bausteine suchen",
  "Search templates": "Vorlagen suchen",
  Searching: "Suche läuft",
  Second: "Zweites",
  "Second factor required": "Zweiter Faktor nötig",
  "Second step": "Zweiter Schritt",
  "Second steps": "Zweite Schritte",
  "Secret key": "Geheimer Schlüssel",
  "Secret key (optional)": "Geheimer Schlüssel (optional)",
  "Secret of the reports": "Geheimnis der Meldungen",
  "Secret of the reports (not stored)": "Geheimnis der Meldungen (nicht gespeichert)",
  "Secret of the reports (stored)": "Geheimnis der Meldungen (gespeichert)",
  "See you soon,\nyour team": "Bis bald\nIhr Team",
  "See your order": "Bestellung ansehen",
  Segment: "Segment",
  "Segment “{name}”": "Segment „{name}“",
  Segments: "Segmente",
  Select: "Auswählen",
  "Select a block of the email to change how it looks.":
    "Wählen Sie einen Block der E-Mail, um sein Aussehen zu ändern.",
  "Select all that match": "Alle Treffer auswählen",
  "Select the row": "Zeile auswählen",
  "Select {id}": "{id} auswählen",
  Selection: "Auswahl",
  Send: "Senden",
  "Send a code by email": "Code per E-Mail senden",
  "Send a test": "Test senden",
  "Send a test email and wait for its report": "Test-E-Mail senden und auf Meldung warten",
  "Send a test email through the provider": "Test-E-Mail über den Anbieter senden",
  "Send again": "Erneut senden",
  "Send an email": "E-Mail senden",
  "Send another code": "Neuen Code senden",
  "Send campaign": "Kampagne senden",
  "Send email": "E-Mail senden",
  "Send email batch": "E-Mail-Stapel senden",
  "Send email, and read what became of it": "E-Mails senden und lesen, was daraus wurde",
  "Send invitation": "Einladung senden",
  "Send it again": "Noch einmal senden",
  "Send it to": "Senden an",
  "Send nothing if nothing is new": "Nichts senden, wenn es nichts Neues gibt",
  "Send only": "Nur senden",
  "Send only on some days and hours": "Nur an bestimmten Tagen und Stunden senden",
  "Send test email": "Test-E-Mail senden",
  "Send the email again": "E-Mail erneut senden",
  "Send the link again": "Link erneut senden",
  "Send to": "Senden an",
  "Send to {count, plural, one {# contact} other {# contacts}}":
    "An {count, plural, one {# Kontakt} other {# Kontakte}} senden",
  "Send your first email": "Erste E-Mail senden",
  Sender: "Absender",
  "Sender (optional)": "Absender (optional)",
  "Sender address": "Absenderadresse",
  "Sender address (optional)": "Absenderadresse (optional)",
  "Sender name (optional)": "Absendername (optional)",
  "Sender paused": "Absender pausiert",
  "Sender {id}": "Absender {id}",
  Senders: "Absender",
  "Senders with bulk email": "Absender mit Massen-E-Mails",
  Sending: "Versand",
  "Sending config {id}": "Absender {id}",
  "Sending times": "Sendezeiten",
  "Sending › Webhooks": "Sending › Webhooks",
  "Sends a template": "Sendet eine Vorlage",
  "Sends nothing: the contact got an email too recently":
    "Sendet nichts: Der Kontakt hat vor Kurzem schon eine E-Mail erhalten",
  "Sends nothing: the contact has paused marketing email":
    "Sendet nichts: Der Kontakt hat Marketing-E-Mails pausiert",
  "Sends nothing: the contact is not subscribed to the topic":
    "Sendet nichts: Der Kontakt hat das Thema nicht abonniert",
  "Sends only items that it has not sent yet, and nothing without new ones.":
    "Sendet nur Einträge, die noch nicht gesendet wurden, und ohne neue nichts.",
  "Sends “{subject}”": "Sendet „{subject}“",
  Sent: "Gesendet",
  Sequence: "Automation",
  sequence: "Automation",
  "Sequence completed": "Automation abgeschlossen",
  "Sequence draft": "Entwurf der Automation",
  "Sequence email": "E-Mail der Automation",
  "Sequence enrolled": "In Automation aufgenommen",
  "Sequence enrollment": "Teilnahme an Automation",
  "Sequence step": "Schritt der Automation",
  "Sequence {sequenceId}": "Automation {sequenceId}",
  Sequences: "Automationen",
  "Server error": "Serverfehler",
  Sessions: "Sitzungen",
  "Set a field": "Feld setzen",
  "Set link": "Link setzen",
  "Set up": "Einrichtung",
  "Set {field} to {value}": "{field} auf {value} setzen",
  "Sets of contacts that you put together yourself":
    "Gruppen von Kontakten, die Sie selbst zusammenstellen",
  Settings: "Einstellungen",
  settings: "einstellungen",
  "Settings of {name}": "Einstellungen: {name}",
  "Settings › Mail Settings › Event Webhooks, with the Signed Event Webhook":
    "Settings › Mail Settings › Event Webhooks, mit Signed Event Webhook",
  "Settings › Webhooks": "Settings › Webhooks",
  "Settle an uncertain email": "Ungewisse E-Mail klären",
  "Several fields, as JSON": "Mehrere Felder, als JSON",
  Shape: "Format",
  Share: "Anteil",
  Shipping: "Versand",
  "Shorter months use their last day.": "In kürzeren Monaten gilt der letzte Tag.",
  Show: "Anzeigen",
  "Show all campaigns": "Alle Kampagnen anzeigen",
  "Show all contacts": "Alle Kontakte anzeigen",
  "Show all forms": "Alle Formulare anzeigen",
  "Show all of them": "Alle anzeigen",
  "Show all recurring campaigns": "Alle wiederkehrenden Kampagnen anzeigen",
  "Show all segments": "Alle Segmente anzeigen",
  "Show all sequences": "Alle Automationen anzeigen",
  "Show all snippets": "Alle Bausteine zeigen",
  "Show all steps": "Alle Schritte anzeigen",
  "Show all templates": "Alle Vorlagen anzeigen",
  "Show as table": "Als Tabelle anzeigen",
  "Show audit": "Audit anzeigen",
  "Show contact": "Kontakt anzeigen",
  "Show contacts": "Kontakte anzeigen",
  "Show DNS records": "DNS-Einträge anzeigen",
  "Show earlier": "Frühere anzeigen",
  "Show errors": "Fehler anzeigen",
  "Show in the public archive": "Im öffentlichen Archiv zeigen",
  "Show it at the provider": "Beim Anbieter anzeigen",
  "Show it only if": "Nur anzeigen, wenn",
  "Show older deliveries": "Ältere Zustellungen anzeigen",
  "Show older imports": "Ältere Importe anzeigen",
  "Show progress": "Fortschritt anzeigen",
  "Show result": "Ergebnis anzeigen",
  "Show submissions": "Einsendungen anzeigen",
  "Show the email": "E-Mail anzeigen",
  "Show theirs and lose mine": "Andere zeigen und meine verwerfen",
  "Show them": "Kontakte anzeigen",
  "Show them in the log": "Im Protokoll anzeigen",
  "Show this line": "Linie einblenden",
  "Shown below the name: what it is about, and how often it comes.":
    "Steht unter dem Namen: worum es geht und wie oft es kommt.",
  "Sign in": "Anmelden",
  "Sign in again": "Erneut anmelden",
  "Sign in with single sign-on": "Mit Single Sign-on anmelden",
  "Sign out": "Abmelden",
  "Sign out after minutes without use (optional)": "Abmelden nach Minuten ohne Nutzung (optional)",
  "Sign up": "Registrieren",
  "Signature (DKIM)": "Signatur (DKIM)",
  Simpler: "Einfacher",
  Since: "Seit",
  "Since {failingSince}": "Seit {failingSince}",
  "Single emails": "Einzelne E-Mails",
  "Single sign-on": "Single Sign-on",
  Site: "Website",
  "Site (optional)": "Website (optional)",
  "Site key": "Websiteschlüssel",
  "Site {id}": "Website {id}",
  "Site {siteId}": "Website {siteId}",
  Sites: "Websites",
  "Sites of {email}": "Websites von {email}",
  Size: "Größe",
  "Size of the logo": "Größe des Logos",
  "Skip to content": "Zum Inhalt springen",
  "Skips a time when the content, with its data feed, is as in the last campaign.":
    "Überspringt einen Termin, wenn der Inhalt samt Daten-Feed derselbe ist wie in der " +
    "letzten Kampagne.",
  Small: "Klein",
  Snippet: "Baustein",
  "Snippet: {name}": "Baustein: {name}",
  Snippets: "Bausteine",
  "Social links": "Social-Media-Links",
  Soft: "Sanft",
  "Soft bounce": "Soft Bounce",
  "Soft bounces in a row that suppress an address (optional)":
    "Soft Bounces in Folge, die eine Adresse sperren (optional)",
  "some topics are not subscribed to": "einige Themen nicht abonniert",
  ["Somebody else has changed the steps since you began, so yours cannot be saved. " +
    "Discard your changes to continue with the new steps."]:
    "Jemand anders hat die Schritte geändert, seit Sie begonnen haben, deshalb lassen sich " +
    "Ihre nicht speichern. Verwerfen Sie Ihre Änderungen, um mit den neuen Schritten " +
    "weiterzumachen.",
  ["Somebody else has saved this since you opened it, so your changes are not saved " +
    "yet. The version that you replace stays in the list of versions."]:
    "Jemand anders hat dies gespeichert, seit Sie es geöffnet haben, deshalb sind Ihre " +
    "Änderungen noch nicht gespeichert. Die Version, die Sie ersetzen, bleibt in der Liste " +
    "der Versionen.",
  "Somebody has changed the steps since the draft was made. Those changes are lost.":
    "Jemand hat die Schritte geändert, seit der Entwurf erstellt wurde. Diese Änderungen " +
    "gehen verloren.",
  "Somebody of your organization added the address, so nothing is sent to it.":
    "Jemand aus Ihrer Organisation hat die Adresse hinzugefügt, deshalb wird nichts an sie " +
    "gesendet.",
  "Something is not right? Reply to this email.":
    "Etwas stimmt nicht? Antworten Sie auf diese E-Mail.",
  "Something new is here": "Es gibt etwas Neues",
  Source: "Quelle",
  "Spam report": "Spam-Meldung",
  "Spam reports": "Spam-Meldungen",
  Split: "Aufteilung",
  "Split by chance": "Zufällig aufteilen",
  Square: "Quadratisch",
  SSO: "SSO",
  "sso login identity provider": "sso login anmeldung identitätsanbieter",
  Start: "Start",
  "Start a sequence (optional)": "Automation starten (optional)",
  "Start again after some days": "Beginnen nach einigen Tagen neu",
  "Start again each time": "Beginnen jedes Mal neu",
  "Start another sequence": "Andere Automation starten",
  "Start recurring campaign": "Wiederkehrende Kampagne starten",
  "Start the sequence {sequence}": "Automation {sequence} starten",
  "Start the sequences of these tags and lists": "Automationen dieser Tags und Listen starten",
  "Start with (optional)": "Beginnen mit (optional)",
  Started: "Gestartet",
  Starts: "Startet",
  "Starts (optional)": "Start (optional)",
  "Starts when a contact {event}": "Startet, wenn ein Kontakt {event}",
  State: "Zustand",
  Statistics: "Statistik",
  Status: "Status",
  "Status of new contacts": "Status neuer Kontakte",
  "Status of the deliveries": "Status der Zustellungen",
  "Status {responseStatus} in {latencyMs} ms{tries}":
    "Status {responseStatus} in {latencyMs} ms{tries}",
  Stay: "Bleiben",
  Stays: "Bleibt",
  Step: "Schritt",
  "Step {key}": "Schritt {key}",
  Steps: "Schritte",
  "Steps of campaigns and holiday emails": "Schritte von Kampagnen und Feiertags-E-Mails",
  "Still missing: {parts}.": "Noch offen: {parts}.",
  Stop: "Anhalten",
  "Store a value of the response": "Wert der Antwort speichern",
  "Stored value {number}": "Gespeicherter Wert {number}",
  "Stored work": "Gespeicherte Aufgaben",
  "Stored work that is due": "Fällige gespeicherte Aufgaben",
  "Styles of the head were left out.": "Stile aus dem Kopfbereich wurden weggelassen.",
  Subject: "Betreff",
  "Subject (optional)": "Betreff (optional)",
  "Subject ({name})": "Betreff ({name})",
  "Subject of {name}": "Betreff von {name}",
  Submission: "Einsendung",
  Submissions: "Einsendungen",
  "Submissions of forms": "Einsendungen von Formularen",
  "Submissions of {name}": "Einsendungen von {name}",
  "Submits a form": "Sendet ein Formular ein",
  "submits the form {form}": "das Formular {form} einsendet",
  Submitted: "Eingesendet",
  Subscribe: "Anmelden",
  "Subscribe people again who had unsubscribed": "Abgemeldete Personen wieder anmelden",
  "Subscribe to a topic": "Für ein Thema anmelden",
  "Subscribe to the topic {topic}": "Für das Thema {topic} anmelden",
  "Subscribe to topic": "Für Thema anmelden",
  "Subscribe to topics (optional)": "Für Themen anmelden (optional)",
  "Subscribe {email}": "{email} anmelden",
  Subscribed: "Angemeldet",
  "Subscribed contacts that got five emails or more and opened and clicked none.":
    "Angemeldete Kontakte, die mindestens fünf E-Mails erhalten und keine geöffnet oder " +
    "angeklickt haben.",
  "Subscribed contacts that no sequence sends to.":
    "Angemeldete Kontakte, an die keine Automation sendet.",
  "Subscribed: they agreed to get our email": "Angemeldet: Sie haben Ihren E-Mails zugestimmt",
  Subscribers: "Abonnenten",
  Subscription: "Anmeldung",
  "Such as event.items: the items of the event that started a sequence.":
    "Etwa event.items: die Artikel aus dem Ereignis, das eine Automation gestartet hat.",
  "Summaries by email": "Zusammenfassungen per E-Mail",
  "Summary by email": "Zusammenfassung per E-Mail",
  Sun: "So",
  Sunday: "Sonntag",
  Suppress: "Sperren",
  "Suppress address": "Adresse sperren",
  "Suppress addresses": "Adressen sperren",
  "Suppress an address": "Eine Adresse sperren",
  Suppressed: "Gesperrt",
  suppressed: "gesperrt",
  "suppressed address": "gesperrte Adresse",
  ["Suppressed and unsubscribed contacts and the frequency cap are respected. A draft " +
    "opens first: you see how many get it, and can change the subject."]:
    "Gesperrte und abgemeldete Kontakte sowie die Häufigkeitsgrenze werden berücksichtigt. " +
    "Zuerst öffnet sich ein Entwurf: Sie sehen, wie viele sie erhalten, und können den " +
    "Betreff ändern.",
  Suppression: "Sperrung",
  Suppressions: "Sperrliste",
  "Switch organization": "Organisation wechseln",
  System: "System",
  ["Systems add or take out a contact with a POST request to this address, with the email " +
    "address in JSON. Whoever knows it can do so: keep it secret."]:
    "Systeme fügen einen Kontakt mit einer POST-Anfrage an diese Adresse hinzu oder nehmen " +
    "ihn heraus, mit der E-Mail-Adresse in JSON. Wer sie kennt, kann das tun: Halten Sie " +
    "sie geheim.",
  Table: "Tabelle",
  Tag: "Tag",
  tag: "Tag",
  "Tag “{name}”": "Tag „{name}“",
  Tags: "Tags",
  "Tags and lists": "Tags und Listen",
  "Tags for all of them (optional)": "Tags für alle (optional)",
  "Tags, fields, your team": "Tags, Felder, Ihr Team",
  "Take an action": "Aktion ausführen",
  "Take out of its folder": "Aus dem Ordner nehmen",
  "Take out of the sequence": "Aus der Automation nehmen",
  "Take {points} points": "{points} Punkte abziehen",
  "taken over from a merged contact": "von einem zusammengeführten Kontakt übernommen",
  "Takes new email, and waiting email of campaigns and sequences, while this provider fails.":
    "Übernimmt neue E-Mails und wartende E-Mails von Kampagnen und Sequenzen, solange dieser " +
    "Anbieter ausfällt.",
  Team: "Team",
  "Tell us what you are interested in": "Verraten Sie uns, was Sie interessiert",
  Template: "Vorlage",
  template: "Vorlage",
  "Template folder": "Vorlagenordner",
  "Template of {name}": "Vorlage von {name}",
  Templates: "Vorlagen",
  Term: "Begriff",
  Test: "Test",
  "Test email": "Test-E-Mail",
  "Test the provider": "Anbieter testen",
  "Test the sender": "Absender testen",
  "Test variants": "Varianten testen",
  "Test {email}": "{email} testen",
  "Test {record}": "{record} testen",
  Tested: "Getestet",
  Text: "Text",
  "Text below the heading (optional)": "Text unter der Überschrift (optional)",
  "Text of the button (optional)": "Text des Buttons (optional)",
  "Texts and colour": "Texte und Farbe",
  "Thank you for your order": "Vielen Dank für Ihre Bestellung",
  "Thanks after the submission (optional)": "Dank nach der Einsendung (optional)",
  "That of the visitor's browser": "Die des Browsers",
  "The address came with an import, so nothing is sent to it.":
    "Die Adresse kam mit einem Import, deshalb wird nichts an sie gesendet.",
  "The address is not suppressed. Email can go to it.":
    "Die Adresse ist nicht gesperrt. E-Mails können an sie gehen.",
  "The address may be mistyped, or what it showed was deleted.":
    "Vielleicht ist die Adresse falsch geschrieben, oder der Inhalt wurde gelöscht.",
  "The address refused an email for good, so nothing is sent to it.":
    "Die Adresse hat eine E-Mail endgültig abgelehnt, deshalb wird nichts an sie gesendet.",
  "The archive of {name} is off. <link>Turn it on in the settings of the site.</link>":
    "Das Archiv von {name} ist ausgeschaltet. <link>Schalten Sie es in den Einstellungen " +
    "der Website ein.</link>",
  "The big one": "Das Wichtigste",
  "The block is a copy then, which does not follow the snippet any more.":
    "Der Block ist dann eine Kopie und folgt dem Baustein nicht mehr.",
  "The button has no link yet.": "Der Button hat noch keinen Link.",
  "The campaign is a draft again.": "Die Kampagne ist wieder ein Entwurf.",
  "The campaign is being sent.": "Die Kampagne wird gesendet.",
  "The campaign is copied to a new draft.": "Die Kampagne wurde in einen neuen Entwurf kopiert.",
  "The campaign is scheduled for {at}.": "Die Kampagne ist für {at} geplant.",
  ["The choices of contacts about it are lost. Email that is on its way still leaves out " +
    "those who left it."]:
    "Die Auswahl der Kontakte dazu geht verloren. E-Mails, die schon unterwegs sind, " +
    "berücksichtigen Abbestellungen weiterhin.",
  "The codes that you have now stop working.":
    "Ihre bisherigen Codes funktionieren dann nicht mehr.",
  ["The connection broke while the provider took the email, so it may have it or not. Its " +
    "reports settle this, and some providers are asked. Whoever knows better can settle it " +
    "here."]:
    "Die Verbindung brach ab, während der Anbieter die E-Mail annahm. Vielleicht hat er " +
    "sie, vielleicht nicht. Seine Meldungen klären das, und manche Anbieter werden " +
    "gefragt. Wer es besser weiß, kann es hier klären.",
  ["The console could not finish this. Reload the page and try again. If it fails again, " +
    "report what you did and this text: {error}"]:
    "Die Konsole konnte das nicht abschließen. Laden Sie die Seite neu und versuchen Sie " +
    "es noch einmal. Wenn es wieder fehlschlägt, melden Sie uns, was Sie getan haben, und " +
    "diesen Text: {error}",
  ["The contact gets marketing email again from now on. It chose the pause itself, " +
    "so only end it if it asked for that. The log of its consent says that you did."]:
    "Der Kontakt erhält ab jetzt wieder Marketing-E-Mails. Er hat die Pause selbst " +
    "gewählt, beenden Sie sie also nur auf seine Bitte. Das Protokoll seiner Einwilligung " +
    "hält fest, dass Sie das getan haben.",
  ["The contact gets no further email of “{name}”. Emails that were sent stay in its " +
    "history. It can be added again and then starts from the beginning."]:
    "Der Kontakt erhält keine weitere E-Mail von „{name}“. Gesendete E-Mails bleiben in " +
    "seinem Verlauf. Er kann wieder hinzugefügt werden und beginnt dann von vorn.",
  "The contact gets no more marketing email, and leaves this sequence.":
    "Der Kontakt erhält keine Marketing-E-Mails mehr und verlässt diese Automation.",
  "The contact gets no other marketing email before it has confirmed.":
    "Vor der Bestätigung erhält der Kontakt keine anderen Marketing-E-Mails.",
  ["The contact is deleted, its emails and events become anonymous, and its secure " +
    "messages are revoked. The address can get no email any more, of any site. This cannot " +
    "be undone."]:
    "Der Kontakt wird gelöscht, seine E-Mails und Ereignisse werden anonymisiert und seine " +
    "sicheren Nachrichten widerrufen. Die Adresse erhält keine E-Mails mehr, von keiner " +
    "Website. Das lässt sich nicht rückgängig machen.",
  ["The contact leaves all lists, segments and sequences. What was sent to it stays in " +
    "the log. This cannot be undone."]:
    "Der Kontakt verlässt alle Listen, Segmente und Automationen. Was an ihn gesendet " +
    "wurde, bleibt im Protokoll. Das lässt sich nicht rückgängig machen.",
  "The contact matches conditions": "Der Kontakt erfüllt Bedingungen",
  "the SMTP server": "SMTP-Server",
  "the contact was added": "Datum des Hinzufügens",
  ["The credentials are deleted. Templates, campaigns and sequences that use this sender " +
    "cannot be sent until they have another one."]:
    "Die Zugangsdaten werden gelöscht. Vorlagen, Kampagnen und Automationen mit diesem " +
    "Absender können erst wieder gesendet werden, wenn sie einen anderen haben.",
  "The credentials are stored. Leave their fields empty to keep them.":
    "Die Zugangsdaten sind gespeichert. Lassen Sie die Felder leer, um sie zu behalten.",
  "The difference can still be a matter of chance.": "Der Unterschied kann noch Zufall sein.",
  "The difference is certain to {certainty}.": "Der Unterschied ist zu {certainty} sicher.",
  "The draft is gone for good.": "Der Entwurf wird endgültig gelöscht.",
  "The draft is lost. The steps that contacts run through stay as they are.":
    "Der Entwurf geht verloren. Die Schritte, die Kontakte durchlaufen, bleiben, wie sie sind.",
  "The draft takes the place of the steps at once.": "Der Entwurf ersetzt die Schritte sofort.",
  "The email and its clicks": "Die E-Mail und ihre Klicks",
  "The email as it was sent": "Die E-Mail, wie sie gesendet wurde",
  "The email counts as failed, and nothing more is sent.":
    "Die E-Mail gilt als fehlgeschlagen, und es wird nichts mehr gesendet.",
  "The email counts as sent. Choose this if the provider's own log shows it.":
    "Die E-Mail gilt als gesendet. Wählen Sie das, wenn das Protokoll des Anbieters es zeigt.",
  "The email has one language. Add another to translate it.":
    "Die E-Mail hat eine Sprache. Fügen Sie eine weitere hinzu, um sie zu übersetzen.",
  "The email is being sent": "Die E-Mail wird gesendet",
  ["The email is handed over again. This is possible 72 hours after it became uncertain, " +
    "because until then the provider may still report it. If the provider has it after " +
    "all, the recipient gets it twice."]:
    "Die E-Mail wird erneut übergeben. Das ist 72 Stunden, nachdem sie ungewiss wurde, " +
    "möglich, denn bis dahin kann der Anbieter sie noch melden. Hat der Anbieter sie doch, " +
    "erhält der Empfänger sie zweimal.",
  "The email is too large: a design has at most {blocks} blocks and 100,000 characters.":
    "Die E-Mail ist zu groß: Ein Design hat höchstens {blocks} Blöcke und 100.000 Zeichen.",
  "The email to {email} is on its way.": "Die E-Mail an {email} ist unterwegs.",
  "the email, whatever they did": "der E-Mail, auch ohne Klick",
  "The emails are not relevant": "Die E-Mails sind nicht relevant",
  "The end": "Ende",
  "The end of the sequence": "Ende der Automation",
  "The event": "Das Ereignis",
  "The exact number is known when it is sent.": "Die genaue Zahl steht beim Versand fest.",
  "the feed": "der Feed",
  "The feed": "Der Feed",
  "The file could not be read.": "Die Datei konnte nicht gelesen werden.",
  "The file has a row for each contact of the audience, with the outcome and the email.":
    "Die Datei hat eine Zeile je Kontakt des Empfängerkreises, mit Ergebnis und E-Mail.",
  "The file has a row for each contact. {note}": "Die Datei hat eine Zeile je Kontakt. {note}",
  "The file has all fields of all contacts of the site.":
    "Die Datei enthält alle Felder aller Kontakte der Website.",
  "The file has all fields of the contacts that match the filters.":
    "Die Datei enthält alle Felder der Kontakte, die zu den Filtern passen.",
  "The file has no content that a design can show.":
    "Die Datei enthält nichts, was ein Design zeigen kann.",
  "The file has no rows below its header.": "Die Datei hat keine Zeilen unter der Kopfzeile.",
  "The file has {count, plural, one {# row} other {# rows}}. It is kept for 7 days.":
    "Die Datei hat {count, plural, one {# Zeile} other {# Zeilen}}. Sie wird 7 Tage aufbewahrt.",
  "The file is being written.": "Die Datei wird erstellt.",
  "The file is no MJML: it has no mj-body element inside of mjml.":
    "Die Datei ist kein MJML: In mjml fehlt das Element mj-body.",
  "The file is too large: MJML may have at most 500,000 characters.":
    "Die Datei ist zu groß: MJML darf höchstens 500.000 Zeichen haben.",
  "The file was deleted after 7 days. Export again.":
    "Die Datei wurde nach 7 Tagen gelöscht. Exportieren Sie noch einmal.",
  "The first email after somebody signs up": "Die erste E-Mail nach der Anmeldung",
  "The first letter in your colours.": "Der erste Brief in Ihren Farben.",
  "The first row is a heading": "Erste Zeile ist Überschrift",
  "The first row names the columns, and one column has the email addresses. <a>Example file</a>":
    "Die erste Zeile benennt die Spalten; eine Spalte enthält die E-Mail-Adressen. " +
    "<a>Beispieldatei</a>",
  "The first step": "Der erste Schritt",
  "The first verified sender": "Der erste verifizierte Absender",
  "The first {count, plural, one {# row} other {# rows}} can be imported.":
    "{count, plural, one {Die erste # Zeile kann} other {Die ersten # Zeilen können}} " +
    "importiert werden.",
  ["The form and the evidence of consent of its {number} submissions are deleted. The " +
    "contacts stay. Pages that contain the form show nothing in its place. This cannot be " +
    "undone."]:
    "Das Formular und die Einwilligungsnachweise seiner {number} Einsendungen werden " +
    "gelöscht. Die Kontakte bleiben. Seiten mit dem Formular zeigen an seiner Stelle " +
    "nichts. Das lässt sich nicht rückgängig machen.",
  "The form as it was shown": "Das Formular, wie es angezeigt wurde",
  "The goal is reached when": "Wann das Ziel erreicht ist",
  "The HTML has {number} KB. Gmail cuts off after 102 KB.":
    "Das HTML hat {number} KB. Gmail schneidet nach 102 KB ab.",
  "The image has no address yet.": "Das Bild hat noch keine Adresse.",
  "the last click": "Datum des letzten Klicks",
  "the last open": "Datum der letzten Öffnung",
  "The last sign-in failed: {reason}": "Die letzte Anmeldung ist fehlgeschlagen: {reason}",
  "The latest time failed: {lastError}": "Der letzte Versand ist fehlgeschlagen: {lastError}",
  "The law requires one in marketing email. A post office box is fine.":
    "In Marketing-E-Mails ist sie gesetzlich vorgeschrieben. Ein Postfach genügt.",
  "The link that {email} got no longer works.":
    "Der Link, den {email} erhalten hat, funktioniert nicht mehr.",
  "The links of the brand": "Die Links der Marke",
  "The list goes back 90 days for an address.": "Für eine Adresse reicht die Liste 90 Tage zurück.",
  "The logo leads to (optional)": "Logo führt zu (optional)",
  ["The mailbox takes no email for now, so marketing email waits. Transactional email is still " +
    "sent."]:
    "Das Postfach nimmt derzeit keine E-Mails an, daher warten Marketing-E-Mails. " +
    "Transaktions-E-Mails werden weiter gesendet.",
  "the message stream, under Webhooks": "den Message Stream, unter Webhooks",
  "The monthly letter": "Der Monatsbrief",
  "The most clicks": "Die meisten Klicks",
  "The most conversions": "Die meisten Conversions",
  "The most opens": "Die meisten Öffnungen",
  "The name of the campaign": "Name der Kampagne",
  "The name of the variant": "Name der Variante",
  "The name of your event": "Der Name Ihrer Veranstaltung",
  "The next time tries it again.": "Beim nächsten Mal wird es wieder versucht.",
  "The old address stops working at once. Systems that use it need the new one.":
    "Die alte Adresse funktioniert sofort nicht mehr. Systeme, die sie nutzen, brauchen " +
    "die neue.",
  "The oldest tested one": "Der älteste getestete",
  "The only site that the key can access.":
    "Die einzige Website, auf die der Schlüssel zugreifen kann.",
  "The organization could not be opened": "Die Organisation konnte nicht geöffnet werden",
  "the other contact": "der andere Kontakt",
  "The others get the winner {duration} after the test.":
    "Die übrigen erhalten den Gewinner {duration} nach dem Test.",
  "The owners": "Die Inhaber",
  "The part before ._domainkey. Press Enter after each.":
    "Der Teil vor ._domainkey. Drücken Sie nach jedem die Eingabetaste.",
  "The part that is kept. Arrow keys move it.":
    "Der Ausschnitt, der bleibt. Pfeiltasten verschieben ihn.",
  "The picture is too large.": "Das Bild ist zu groß.",
  "The plan changes on {effectiveAt}. Due now: {amountDueCents}.":
    "Der Tarif wechselt am {effectiveAt}. Jetzt fällig: {amountDueCents}.",
  "The proof of consent that many countries ask for. Nothing happens before it.":
    "Der Nachweis der Einwilligung, den viele Länder verlangen. Vorher geschieht nichts.",
  "The provider has accepted the email to {email}.":
    "Der Anbieter hat die E-Mail an {email} angenommen.",
  "The provider has not reported anything about these emails yet.":
    "Der Anbieter hat zu diesen E-Mails noch nichts gemeldet.",
  "The provider of {fromEmail} does not report what happens":
    "Der Anbieter von {fromEmail} meldet nicht, was geschieht",
  ["The provider of {fromEmail} does not report what happens, so deliveries, opens and " +
    "bounces are not known. <link>Set its reports up</link>"]:
    "Der Anbieter von {fromEmail} meldet nicht, was geschieht. Zustellungen, Öffnungen und " +
    "Bounces sind daher nicht bekannt. <link>Meldungen einrichten</link>",
  "The provider records them": "Der Anbieter erfasst sie",
  "The provider shows it where you enter the address.":
    "Der Anbieter zeigt es dort, wo Sie die Adresse eingeben.",
  "The provider shows it where you enter the address. Empty keeps it.":
    "Der Anbieter zeigt es dort, wo Sie die Adresse eingeben. Leer bleibt es unverändert.",
  "The recipient left marketing email. Transactional email is still sent.":
    "Der Empfänger hat Marketing-E-Mails abbestellt. Transaktionale E-Mails werden weiter " +
    "gesendet.",
  "The recipient reported an email as spam, so nothing is sent to the address.":
    "Der Empfänger hat eine E-Mail als Spam gemeldet, deshalb wird nichts an die Adresse " +
    "gesendet.",
  "The role works from the member's next request on.":
    "Die Rolle gilt ab der nächsten Anfrage des Mitglieds.",
  "The same": "Gleich",
  "The sender is not verified yet, so the provider may refuse the emails.":
    "Der Absender ist noch nicht verifiziert, der Anbieter lehnt die E-Mails womöglich ab.",
  "The sender is saved. Send a test email again.":
    "Der Absender ist gespeichert. Senden Sie noch einmal eine Test-E-Mail.",
  "The sequence begins as a draft. Its emails become templates, which you can change first.":
    "Die Automation beginnt als Entwurf. Ihre E-Mails werden zu Vorlagen, die Sie vorher " +
    "ändern können.",
  "The sequence is not active: contacts wait until you activate it.":
    "Die Automation ist nicht aktiv: Kontakte warten, bis Sie sie aktivieren.",
  "The sequence reads this field.": "Die Automation liest dieses Feld.",
  "The setting PEXELS_API_KEY turns it on.": "Die Einstellung PEXELS_API_KEY schaltet sie ein.",
  ["The snippet and its versions are gone for good. Emails that are on their way " +
    "are still sent."]:
    "Der Baustein und seine Versionen sind endgültig gelöscht. E-Mails, die unterwegs " +
    "sind, werden noch gesendet.",
  "The story of the month, and two short reads":
    "Die Geschichte des Monats und zwei kurze Beiträge",
  "The subject of the campaign or template": "Betreff der Kampagne oder Vorlage",
  "The tag {id} does not exist": "Der Tag {id} existiert nicht",
  ["The template and its versions are gone for good. Emails that are on their way are " +
    "still sent. A template that a campaign or sequence uses cannot be deleted."]:
    "Die Vorlage und ihre Versionen sind endgültig weg. E-Mails, die unterwegs sind, " +
    "werden noch gesendet. Eine Vorlage, die eine Kampagne oder Automation verwendet, " +
    "lässt sich nicht löschen.",
  "The template of the campaign": "Vorlage der Kampagne",
  "The template shows its new items as {{ feed.items }}.":
    "Die Vorlage zeigt die neuen Einträge als {{ feed.items }}.",
  ["The test email has left. Waiting for the report of {provider}: it takes a few seconds " +
    "to a few minutes."]:
    "Die Test-E-Mail ist unterwegs. Warten auf die Meldung von {provider}: Das dauert " +
    "einige Sekunden bis wenige Minuten.",
  "The text is hard to read on the email. Choose a darker or a lighter colour.":
    "Der Text ist auf der E-Mail schwer zu lesen. Wählen Sie eine dunklere oder hellere Farbe.",
  "The time of the date": "Uhrzeit des Datums",
  "The trigger would not start this contact: it does not match the filter.":
    "Der Auslöser würde diesen Kontakt nicht starten: Er entspricht nicht dem Filter.",
  ["The variant with the most {measure, select, open {opens} click {clicks} other " +
    "{conversions}} is picked when the test emails have been out for {duration}{early, select, " +
    "yes {, or as soon as it is certain} other {}}."]:
    "Die Variante mit den meisten {measure, select, open {Öffnungen} click {Klicks} other " +
    "{Conversions}} wird gewählt, sobald die Test-E-Mails {duration} unterwegs sind{early, " +
    "select, yes { oder sie sicher feststeht} other {}}.",
  "The video needs a picture and the address that it leads to.":
    "Das Video braucht ein Bild und die Adresse, zu der es führt.",
  "The walk": "Der Durchlauf",
  "The walk takes the steps as they are saved.":
    "Der Durchlauf nimmt die Schritte, wie sie gespeichert sind.",
  "The whole audience got the variants.": "Der ganze Empfängerkreis hat die Varianten erhalten.",
  "The whole audience, in equal parts. There is no winner.":
    "Der ganze Empfängerkreis, zu gleichen Teilen. Es gibt keinen Gewinner.",
  ["The whole installation, with all organizations. Read {checkedAt} ({timezone}), and " +
    "again every 15 seconds."]:
    "Die ganze Installation mit allen Organisationen. Gelesen am {checkedAt} ({timezone}), " +
    "alle 15 Sekunden erneut.",
  "The winner has": "Der Gewinner hat",
  Then: "Dann",
  "Then go on with": "Dann weiter mit",
  "Then tell in one sentence why it matters to the reader.":
    "Erklären Sie dann in einem Satz, warum es für die Leser wichtig ist.",
  "There are more.": "Es gibt noch mehr.",
  "There are none yet. <link>Create a field</link>":
    "Es gibt noch keine. <link>Feld erstellen</link>",
  "There is a snippet with this name. It is replaced in all emails that have it.":
    "Einen Baustein mit diesem Namen gibt es schon. Er wird in allen E-Mails ersetzt, die " +
    "ihn enthalten.",
  "There is no photo search here.": "Hier gibt es keine Fotosuche.",
  "There is no such field": "Dieses Feld gibt es nicht",
  "There is no such screen": "Diese Seite gibt es nicht",
  "There is no such snippet": "Diesen Baustein gibt es nicht",
  "There is no template yet. <link>Make one first.</link>":
    "Es gibt noch keine Vorlage. <link>Zuerst eine erstellen.</link>",
  "There is none": "Gibt es nicht",
  "There is none now.": "Derzeit gibt es keine.",
  "There is none yet": "Noch nichts vorhanden",
  "They get it only after they join": "Erhalten es erst nach Anmeldung",
  "They get it until they leave": "Erhalten es, bis sie es abbestellen",
  "They stand below each other on phones.": "Auf dem Handy stehen sie untereinander.",
  "They stay valid otherwise, and programs may need them: {names}":
    "Sonst bleiben sie gültig; Programme brauchen sie vielleicht: {names}",
  Thirds: "Drittel",
  "This campaign does not exist": "Diese Kampagne gibt es nicht",
  "This can never change, because a change would subscribe people unasked.":
    "Das lässt sich später nicht ändern, weil sonst Personen ungefragt angemeldet würden.",
  "This cannot be undone.": "Das lässt sich nicht rückgängig machen.",
  ["This email goes to <b>{count, plural, one {# contact} other {# contacts}}</b> now, " +
    "from {sender}."]:
    "Diese E-Mail geht jetzt an <b>{count, plural, one {# Kontakt} other {# " +
    "Kontakte}}</b>, von {sender}.",
  ["This email goes to <b>{count, plural, one {# contact} other {# contacts}}</b> on " +
    "{day} at {time} on its own clock, from {sender}. Contacts are counted again then."]:
    "Diese E-Mail geht am {day} um {time} nach Ortszeit des Kontakts an <b>{count, plural, " +
    "one {# Kontakt} other {# Kontakte}}</b>, von {sender}. Die Kontakte werden dann neu " +
    "gezählt.",
  ["This email goes to <b>{count, plural, one {# contact} other {# contacts}}</b> on " +
    "{time} ({timezone}), from {sender}. Contacts are counted again then."]:
    "Diese E-Mail geht am {time} ({timezone}) an <b>{count, plural, one {# Kontakt} other " +
    "{# Kontakte}}</b>, von {sender}. Die Kontakte werden dann neu gezählt.",
  "This ends on {liftsAt}, or as soon as an email is delivered.":
    "Das endet am {liftsAt} oder sobald eine E-Mail zugestellt wird.",
  "This file is no PNG, JPEG, GIF or WebP picture.":
    "Diese Datei ist kein PNG-, JPEG-, GIF- oder WebP-Bild.",
  "This form does not exist": "Dieses Formular gibt es nicht",
  "This is my first email.": "Das ist meine erste E-Mail.",
  "This is no JSON object.": "Das ist kein JSON-Objekt.",
  "This one": "Dieses",
  "This page has changes that are not saved. They are lost when you leave.":
    "Diese Seite hat nicht gespeicherte Änderungen. Sie gehen verloren, wenn Sie sie verlassen.",
  ["This part of the audience gets no email. The result compares their conversions " +
    "with those of the others."]:
    "Dieser Teil des Empfängerkreises erhält keine E-Mail. Das Ergebnis vergleicht " +
    "seine Conversions mit denen der übrigen.",
  "This password is too easy to guess": "Dieses Passwort ist zu leicht zu erraten",
  ["This password is too easy to guess: it contains your name, your address or the name " +
    "of this service"]:
    "Dieses Passwort ist zu leicht zu erraten: Es enthält Ihren Namen, Ihre Adresse oder " +
    "den Namen dieses Dienstes",
  "This password is too easy to guess: it follows a row of keys":
    "Dieses Passwort ist zu leicht zu erraten: Es folgt einer Tastenreihe",
  "This password is too easy to guess: it follows a sequence":
    "Dieses Passwort ist zu leicht zu erraten: Es folgt einer Reihenfolge",
  "This password is too easy to guess: it is like a common password":
    "Dieses Passwort ist zu leicht zu erraten: Es ähnelt einem häufigen Passwort",
  "This password is too easy to guess: it repeats itself":
    "Dieses Passwort ist zu leicht zu erraten: Es wiederholt sich",
  "This period": "Dieser Zeitraum",
  "This recurring campaign does not exist": "Diese wiederkehrende Kampagne gibt es nicht",
  "This screen could not be loaded": "Diese Seite konnte nicht geladen werden",
  "This screen has none of its own.": "Diese Seite hat keine eigenen.",
  "This segment does not exist": "Dieses Segment gibt es nicht",
  "This sequence": "Diese Automation",
  "This sequence does not exist": "Diese Automation gibt es nicht",
  "This snippet does not exist": "Diesen Baustein gibt es nicht",
  "This template does not exist": "Diese Vorlage gibt es nicht",
  "This text is sent as it is. Empty it to have it made from the HTML.":
    "Dieser Text wird so gesendet. Leeren Sie ihn, damit er aus dem HTML entsteht.",
  "This time is over. Choose a later one, or send it now.":
    "Dieser Zeitpunkt ist vorbei. Wählen Sie einen späteren, oder senden Sie jetzt.",
  "Three improvements that save you time": "Drei Verbesserungen, die Ihnen Zeit sparen",
  "Three quarters": "Drei Viertel",
  "Three things to begin with": "Drei Dinge für den Anfang",
  Thu: "Do",
  Thursday: "Donnerstag",
  Time: "Zeit",
  "Time zone": "Zeitzone",
  Timeline: "Zeitachse",
  To: "An",
  "To (optional)": "An (optional)",
  "To do": "Offen",
  "To find it again.": "Um es wiederzufinden.",
  "to {email}": "an {email}",
  "Too many emails": "Zu viele E-Mails",
  "Top left corner": "Ecke oben links",
  "Top right corner": "Ecke oben rechts",
  Topic: "Thema",
  topic: "Thema",
  "Topic (optional)": "Thema (optional)",
  "Topic “{name}”": "Thema „{name}“",
  Topics: "Themen",
  Total: "Summe",
  total: "total",
  "Transactional › Settings › Webhook": "Transactional › Settings › Webhook",
  Translations: "Übersetzungen",
  "Tries again {resumesAt}": "Neuer Versuch: {resumesAt}",
  "Try again": "Erneut versuchen",
  "Try it": "Ausprobieren",
  Tue: "Di",
  Tuesday: "Dienstag",
  "Turn into a block": "In Block umwandeln",
  "Turn into code": "In Code umwandeln",
  "Turn off": "Deaktivieren",
  "Turn off single sign-on": "Single Sign-on deaktivieren",
  "Turn off: {factor}": "Deaktivieren: {factor}",
  "Turn on": "Aktivieren",
  "Turn on “Count conversions” below.": "Schalten Sie unten „Conversions zählen“ ein.",
  "Two-step sign-in": "Anmeldung in zwei Schritten",
  Type: "Typ",
  "Type for {header}": "Typ für {header}",
  "Type {typed} to confirm": "Zur Bestätigung {typed} eingeben",
  Uncertain: "Ungewiss",
  "Uncertain email": "Ungewisse E-Mail",
  Unconfirmed: "Unbestätigt",
  "Under {limit} is healthy": "Unter {limit} ist gut",
  Undo: "Rückgängig",
  "Undo a deletion": "Löschen rückgängig machen",
  Unit: "Einheit",
  Unknown: "Unbekannt",
  "Unknown address": "Unbekannte Adresse",
  "Unknown device": "Unbekanntes Gerät",
  Unlimited: "Unbegrenzt",
  Unsubscribe: "Abmelden",
  "Unsubscribe from a topic": "Von einem Thema abmelden",
  "Unsubscribe from everything": "Von allem abmelden",
  "Unsubscribe from the topic {topic}": "Vom Thema {topic} abmelden",
  "Unsubscribe from topic": "Von Thema abmelden",
  "Unsubscribe {email}": "{email} abmelden",
  Unsubscribed: "Abgemeldet",
  unsubscribed: "abgemeldet",
  "Unsubscribed or not confirmed": "Abgemeldet oder nicht bestätigt",
  "Unsubscribed: they get no marketing email": "Abgemeldet: Sie erhalten keine Marketing-E-Mails",
  Unsubscribes: "Meldet sich ab",
  unsubscribes: "sich abmeldet",
  "unsubscribes, or is no longer confirmed": "sich abmeldet oder nicht mehr bestätigt ist",
  Unsubscribing: "Abmeldung",
  Until: "Bis",
  up: "nach oben",
  "Up to 10,000 at once. No email goes to these addresses any more, from any site.":
    "Bis zu 10.000 auf einmal. An diese Adressen geht von keiner Website mehr eine E-Mail.",
  "Up to five addresses, separated by commas. What is not saved yet is sent too.":
    "Bis zu fünf Adressen, durch Kommas getrennt. Auch noch nicht Gespeichertes wird gesendet.",
  "Up to ten addresses, separated by commas. The figures stay as they are.":
    "Bis zu zehn Adressen, durch Kommas getrennt. Die Zahlen ändern sich nicht.",
  "Update branding": "Branding ändern",
  "Update {record}": "{record} ändern",
  "Upload a file": "Datei hochladen",
  "Upsert contacts": "Kontakte anlegen oder ändern",
  URL: "URL",
  "Use dark colours": "Dunkle Farben verwenden",
  "Use light colours": "Helle Farben verwenden",
  "Use our text": "Unseren Text verwenden",
  "Use single sign-on in a new tab": "Single Sign-on in neuem Tab verwenden",
  "Use the brand of the site": "Marke der Website verwenden",
  "Use these rows": "Diese Zeilen verwenden",
  "Used by": "Verwendet von",
  User: "Benutzer",
  "Usual columns": "Standardspalten",
  "Usually {rate}": "Üblich: {rate}",
  "Valid until": "Gültig bis",
  Value: "Wert",
  "Value of condition {number}": "Wert von Bedingung {number}",
  "Value of the custom field": "Wert des eigenen Feldes",
  "Value of {label}": "Wert von {label}",
  "Value of {name}": "Wert von {name}",
  "Values for the template (optional)": "Werte für die Vorlage (optional)",
  "Values that are not of the type are refused. A text stays as it is, also 007.":
    "Werte anderen Typs werden abgelehnt. Ein Text bleibt, wie er ist, auch 007.",
  Variant: "Variante",
  "Variant {name}": "Variante {name}",
  Variants: "Varianten",
  Verified: "Verifiziert",
  "Verify email": "E-Mail-Adresse bestätigen",
  "Verify mfa code": "MFA-Code prüfen",
  "Verify sending config": "Absender verifizieren",
  "Verify your address": "Adresse bestätigen",
  Version: "Version",
  Versions: "Versionen",
  Video: "Video",
  View: "Ansicht",
  "View of the steps": "Ansicht der Schritte",
  Viewer: "Betrachter",
  "Visitors see that the form is closed until its status is active.":
    "Besucher sehen, dass das Formular geschlossen ist, bis sein Status aktiv ist.",
  "Visits a page": "Besucht eine Seite",
  Wait: "Warten",
  "Wait at most": "Höchstens warten",
  "Wait for": "Wartezeit",
  "Wait until": "Warten bis",
  "Wait until something happens": "Warten, bis etwas geschieht",
  Waiting: "Wartend",
  Waits: "Wartet",
  "Waits for the contact": "Wartet auf den Kontakt",
  "Waits until {time}": "Wartet bis {time}",
  Walk: "Durchlauf",
  "Walk a contact through": "Kontakt durchspielen",
  "Walk through": "Durchspielen",
  "Warm up the address": "Adresse aufwärmen",
  "Warm-up over {days} days": "Aufwärmen über {days} Tage",
  Warning: "Warnung",
  "was after": "war nach dem",
  "was at any time": "war irgendwann",
  "was before": "war vor dem",
  "was clicked": "wurde angeklickt",
  "was in the last … day": "war vor höchstens … Tag",
  "was in the last … days": "war in den letzten … Tagen",
  "was never": "war nie",
  "was not clicked": "wurde nicht angeklickt",
  "was not in the last … day": "war nicht vor höchstens … Tag",
  "was not in the last … days": "war nicht in den letzten … Tagen",
  "was not on": "war nicht am",
  "was not opened": "wurde nicht geöffnet",
  "was not received": "wurde nicht empfangen",
  "was not submitted": "wurde nicht eingesendet",
  "was on": "war am",
  "was opened": "wurde geöffnet",
  "was received": "wurde empfangen",
  "was sent": "wurde gesendet",
  "was submitted": "wurde eingesendet",
  "was today": "war heute",
  "Was {time}": "War am {time}",
  Way: "Weg",
  "We have worked on it all year": "Das ganze Jahr haben wir daran gearbeitet",
  "Web address": "Webadresse",
  Webhook: "Webhook",
  "Webhook added": "Webhook hinzugefügt",
  Webhooks: "Webhooks",
  "Website (optional)": "Website (optional)",
  Wed: "Mi",
  Wednesday: "Mittwoch",
  weeks: "Wochen",
  "Weight of way {way}": "Gewicht von Weg {way}",
  Welcome: "Willkommen",
  "Welcome aboard": "Willkommen an Bord",
  "Welcome, we are glad you are here": "Willkommen, schön, dass Sie da sind",
  "What became of every contact of the audience, with a hash that proves it.":
    "Was aus jedem Kontakt des Empfängerkreises wurde, mit einem Hash als Nachweis.",
  "What comes next": "Wie es weitergeht",
  "What contacts have is converted. What cannot be read stays, and is listed.":
    "Vorhandene Werte werden umgewandelt. Was nicht lesbar ist, bleibt und wird aufgelistet.",
  "What happens": "Was geschieht",
  "What has to be done at a time. A schedule looks every minute; a few minutes late is normal.":
    "Was zu einer bestimmten Zeit zu tun ist. Ein Zeitplan sieht jede Minute nach; einige " +
    "Minuten Verspätung sind normal.",
  "What inboxes show after the subject. A campaign can have its own.":
    "Was Posteingänge nach dem Betreff zeigen. Eine Kampagne kann einen eigenen haben.",
  "What is new": "Das ist neu",
  "What is new this month": "Neues in diesem Monat",
  "What is new, improved and fixed": "Was neu, besser und behoben ist",
  "What is on it": "Was darauf zu sehen ist",
  "What needs fewer steps than before.": "Was weniger Schritte braucht als bisher.",
  "What providers and recipients did with emails":
    "Was Anbieter und Empfänger mit E-Mails gemacht haben",
  "What takes less time than before.": "Was weniger Zeit braucht als bisher.",
  "What the image shows, for those who cannot see it.":
    "Was das Bild zeigt, für alle, die es nicht sehen können.",
  "What the key may do": "Was der Schlüssel darf",
  "What the picture shows, for those who cannot see it.":
    "Was das Bild zeigt, für alle, die es nicht sehen können.",
  "What the picture shows. Emails that show it already keep their own.":
    "Was das Bild zeigt. E-Mails, die es schon zeigen, behalten ihren Text.",
  "What to do": "Was geschehen soll",
  "What to do with the contacts": "Was mit den Kontakten geschehen soll",
  "What uses it would no longer find it:": "Hier wird es verwendet und würde dann fehlen:",
  "What was chosen": "Gewählte Optionen",
  "What was entered": "Eingegebene Daten",
  "What we have built for you": "Das haben wir für Sie entwickelt",
  "What you know of a contact: names, plans, sizes and whatever else you need":
    "Was Sie über einen Kontakt wissen: Namen, Tarife, Größen und was Sie sonst brauchen",
  "What, when and where, with a button to sign up":
    "Was, wann und wo, mit einem Button zur Anmeldung",
  "What: talks, food and good company": "Was: Vorträge, gutes Essen und nette Leute",
  When: "Wann",
  "When a contact": "Der Kontakt",
  "When a contact {event}": "Wenn ein Kontakt {event}",
  "When more are new, the newest are sent, and the others never.":
    "Sind mehr neu, werden die neuesten gesendet und die anderen nie.",
  "When: Thursday, 12 March, 18:00": "Wann: Donnerstag, 12. März, 18:00 Uhr",
  "Where you are signed in": "Wo Sie angemeldet sind",
  "where {conditions}": "mit {conditions}",
  "Where: 1 Main Street": "Wo: Hauptstraße 1",
  "Which contacts": "Welche Kontakte",
  "Which form (optional)": "Welches Formular (optional)",
  "Which tag (optional)": "Welcher Tag (optional)",
  "While its provider is down, the form takes no submissions.":
    "Solange der Anbieter ausfällt, nimmt das Formular keine Einsendungen an.",
  "Who did not get it": "Wer sie nicht erhalten hat",
  "Who gets the variants": "Wer die Varianten erhält",
  "Who is walked through": "Wer durchgespielt wird",
  "Who leaves early": "Wer vorzeitig geht",
  "Who meets one leaves the sequence at once, also while waiting. Goals count as conversions.":
    "Wer eines davon erfüllt, verlässt die Automation sofort, auch während einer " +
    "Wartezeit. Ziele zählen als Konversionen.",
  Why: "Grund",
  "Why contacts unsubscribed": "Warum sich Kontakte abgemeldet haben",
  "Why did bob@example.com not get it?": "Warum hat bob@example.com sie nicht erhalten?",
  "Why is somebody in it, or not?": "Warum ist jemand darin oder nicht?",
  "Why they unsubscribed": "Gründe der Abmeldung",
  Wide: "Breit",
  Width: "Breite",
  "Width of the logo in pixels": "Breite des Logos in Pixeln",
  Widths: "Breiten",
  "Will be": "Wird",
  Winner: "Gewinner",
  "With a second step, a stolen password is not enough to sign in as you.":
    "Mit einem zweiten Schritt reicht ein gestohlenes Passwort nicht, um sich als Sie " +
    "anzumelden.",
  "With a tag, you find these contacts again. Press Enter after each.":
    "Mit einem Tag finden Sie diese Kontakte wieder. Drücken Sie nach jedem die Eingabetaste.",
  ["With the email, {percent} % {direction, select, more {more} other {fewer}} " +
    "contacts converted."]:
    "Mit der E-Mail gab es {percent} % {direction, select, more {mehr} other " +
    "{weniger}} Conversions.",
  ["With topics, a contact who is tired of one kind of email leaves only that one. " +
    "Without them, the link in the footer unsubscribes from everything."]:
    "Mit Themen bestellt ein Kontakt, dem eine Art von E-Mails zu viel wird, nur diese ab. " +
    "Ohne Themen meldet der Link in der Fußzeile von allem ab.",
  Within: "Innerhalb von",
  "Without a choice": "Ohne Auswahl",
  "Without a choice, the member can work in all sites.":
    "Ohne Auswahl kann das Mitglied in allen Websites arbeiten.",
  "without a name": "ohne Namen",
  "Without a time it starts now.": "Ohne Zeitangabe beginnt es jetzt.",
  "Without conditions, everybody matches.": "Ohne Bedingungen passen alle.",
  "Without it, a session lasts until it is ended.":
    "Ohne Angabe dauert eine Sitzung, bis sie beendet wird.",
  "Without it, only people with an invitation can sign in.":
    "Ohne Angabe können sich nur Eingeladene anmelden.",
  "Without it, replies go where the site or the sender says.":
    "Sonst gehen Antworten dorthin, wo es die Website oder der Absender vorgibt.",
  "Without it, the footer links to the page of this service.":
    "Ohne sie führt die Fußzeile zur Seite dieses Dienstes.",
  "Without it, the name of the chosen sender is used.":
    "Sonst gilt der Name des gewählten Absenders.",
  "Without it, the subject of the template is used.": "Sonst gilt der Betreff der Vorlage.",
  "Without one, the stored secret stays.": "Ohne Eingabe bleibt der gespeicherte Schlüssel.",
  ["Without reports, deliveries, opens, clicks and bounces are not known, and addresses " +
    "that bounced get email again."]:
    "Ohne Meldungen sind Zustellungen, Öffnungen, Klicks und Bounces nicht bekannt, und " +
    "unzustellbare Adressen erhalten wieder E-Mails.",
  Words: "Text",
  "Words below it": "Text darunter",
  "Words on the button": "Text des Buttons",
  write: "schreiben",
  "Write a name, a colon and a value: {wrong}":
    "Schreiben Sie einen Namen, einen Doppelpunkt und einen Wert: {wrong}",
  "Write the text of the snippet.": "Schreiben Sie den Text des Bausteins.",
  "Write the text.": "Schreiben Sie den Text.",
  Wrong: "Falsch",
  Yes: "Ja",
  "Yes means subscribed": "Ja heißt angemeldet",
  "Yes means unsubscribed": "Ja heißt abgemeldet",
  "Yes or no": "Ja oder Nein",
  "You add contacts": "Sie fügen Kontakte hinzu",
  "You are invited": "Sie sind eingeladen",
  "You can change or pause it whenever you like. This draft stays as it is.":
    "Sie können sie jederzeit ändern oder pausieren. Dieser Entwurf bleibt, wie er ist.",
  "You can leave this page. Sending goes on.":
    "Sie können diese Seite verlassen. Der Versand läuft weiter.",
  "You can leave this page: the import goes on.":
    "Sie können diese Seite verlassen: Der Import läuft weiter.",
  "You can pause it while it is being sent. Emails that left cannot be taken back.":
    "Sie können den Versand pausieren, solange er läuft. Bereits versandte E-Mails lassen " +
    "sich nicht zurückholen.",
  "You can send email after you opened the link that was mailed to {email}.":
    "Sie können E-Mails senden, sobald Sie den Link geöffnet haben, der an {email} " +
    "gesendet wurde.",
  "You cannot come? We send you the recording.":
    "Sie können nicht kommen? Wir senden Ihnen die Aufzeichnung.",
  ["You edit the HTML of this email from then on. There is no way back: code cannot " +
    "become a visual design again. Only the versions that are saved now stay visual in the " +
    "list of versions."]:
    "Sie bearbeiten ab dann das HTML dieser E-Mail. Es gibt kein Zurück: Aus Code wird " +
    "kein visuelles Design mehr. Nur die jetzt gespeicherten Versionen bleiben in der " +
    "Versionsliste visuell.",
  ["You edit the HTML of this snippet from then on. Code cannot become a visual " +
    "design again. Only the versions that are saved now stay visual in the list of " +
    "versions."]:
    "Sie bearbeiten ab dann das HTML dieses Bausteins. Code kann nicht wieder zu einem " +
    "visuellen Entwurf werden. Nur die bisher gespeicherten Versionen bleiben in der Liste " +
    "der Versionen visuell.",
  "You get this email because you signed up for it.":
    "Sie erhalten diese E-Mail, weil Sie sich dafür angemeldet haben.",
  "Your changes are saved with it.": "Ihre Änderungen werden dabei gespeichert.",
  "Your company or project. You can change it later.":
    "Ihre Firma oder Ihr Projekt. Später änderbar.",
  "Your fields": "Ihre Felder",
  "Your first email has left.": "Ihre erste E-Mail ist unterwegs.",
  "Your key sets up {provider}: reports, domain and signature. What exists is kept.":
    "Ihr Schlüssel richtet {provider} ein: Meldungen, Domain und Signatur. Was es schon gibt, " +
    "bleibt.",
  "Your order {{ orderNumber }}": "Ihre Bestellung {{ orderNumber }}",
  "Your other sessions are signed out.": "Ihre anderen Sitzungen werden abgemeldet.",
  "Your own fields": "Ihre eigenen Felder",
  "Your program answered in {latencyMs} ms.": "Ihr Programm hat in {latencyMs} ms geantwortet.",
  "Your program checks calls with this secret. It is not shown again.":
    "Mit diesem Geheimnis prüft Ihr Programm Aufrufe. Es wird nicht noch einmal gezeigt.",
  "Your role does not allow this. Ask an owner.":
    "Ihre Rolle erlaubt das nicht. Fragen Sie einen Inhaber.",
  "Your role has no settings here.": "Ihre Rolle hat hier keine Einstellungen.",
  "Your security": "Ihre Sicherheit",
  "Your session has ended. What you typed on this page stays.":
    "Ihre Sitzung ist beendet. Was Sie auf dieser Seite eingegeben haben, bleibt erhalten.",
  "Your shop or website records it.": "Ihr Shop oder Ihre Website meldet es.",
  "Your systems add contacts": "Ihre Systeme fügen Kontakte hinzu",
  "Your team and systems": "Ihr Team und Ihre Systeme",
  Yours: "Ihr Tarif",
  "Zoom in": "Vergrößern",
  "Zoom out": "Verkleinern",
  "Zoom: {Math} %. Show in full size": "Zoom: {Math} %. In voller Größe anzeigen",
  "{action} “{name}”": "{action}: „{name}“",
  ["{active, plural, one {# contact in it stays at its step and gets no email} other {# " +
    "contacts in it stay at their steps and get no email}}"]:
    "{active, plural, one {# Kontakt darin bleibt bei seinem Schritt und erhält keine " +
    "E-Mail} other {# Kontakte darin bleiben bei ihren Schritten und erhalten keine " +
    "E-Mail}}",
  ["{active, plural, one {# contact leaves} other {# contacts leave}} the sequence, and " +
    "its emails that wait are not sent. Its numbers are lost. This cannot be undone; to " +
    "keep them, archive it."]:
    "{active, plural, one {# Kontakt verlässt} other {# Kontakte verlassen}} die " +
    "Automation, und ihre wartenden E-Mails werden nicht gesendet. Die Zahlen der " +
    "Automation gehen verloren. Das lässt sich nicht rückgängig machen; um sie zu " +
    "behalten, archivieren Sie die Automation.",
  ["{active, plural, one {# contact who waits goes} other {# contacts who wait go}} on " +
    "within a minute."]:
    "{active, plural, one {# wartender Kontakt geht} other {# wartende Kontakte gehen}} " +
    "binnen einer Minute weiter.",
  "{address} by {provider}": "{address} über {provider}",
  ["{answers} on the page behind the unsubscribe link. Not everybody who leaves gives " +
    "one. The words of a contact are in its consent history."]:
    "{answers} auf der Seite hinter dem Abmeldelink. Nicht alle, die sich abmelden, geben " +
    "einen Grund an. Den Wortlaut eines Kontakts finden Sie im Verlauf seiner Einwilligung.",
  "{browser} on {system}": "{browser} auf {system}",
  ["{b}: you will not see deliveries, opens and bounces, and addresses that bounced get " +
    "email again. <link>Set its reports up</link>"]:
    "{b}: Sie sehen keine Zustellungen, Öffnungen und Bounces, und unzustellbare Adressen " +
    "erhalten wieder E-Mails. <link>Meldungen einrichten</link>",
  "{change} % <small>to the period before</small>": "{change} % <small>zum Zeitraum davor</small>",
  "{change} points <small>to the period before</small>":
    "{change} Punkte <small>zum Zeitraum davor</small>",
  "{checkedEntries} entries are unchanged.": "{checkedEntries} Einträge sind unverändert.",
  "{clicked} clicked": "{clicked} geklickt",
  ["{clicks, plural, one {# click} other {# clicks}} on {links, plural, one {# link} " +
    "other {# links}}, those of machines included."]:
    "{clicks, plural, one {# Klick} other {# Klicks}} auf {links, plural, one {# Link} " +
    "other {# Links}}, auch solche von Maschinen.",
  "{condition}, and {count} more": "{condition} und {count} weitere",
  "{copied, plural, one {# step} other {# steps}} copied. Paste with a plus on the canvas.":
    "{copied, plural, one {# Schritt} other {# Schritte}} kopiert. Fügen Sie über ein Plus " +
    "auf der Fläche ein.",
  "{corner}. Arrow keys move it.": "{corner}. Pfeiltasten verschieben sie.",
  "{count, plural, one {# answer} other {# answers}}":
    "{count, plural, one {# Antwort} other {# Antworten}}",
  ["{count, plural, one {# contact is} other {# contacts are}} at steps that you deleted. " +
    "They go on at once with the next step that stays, or leave the sequence if there is " +
    "none."]:
    "{count, plural, one {# Kontakt ist} other {# Kontakte sind}} bei Schritten, die Sie " +
    "gelöscht haben. Weiter geht es sofort mit dem nächsten Schritt, der bleibt; ohne einen " +
    "endet die Automation für sie.",
  "{count, plural, one {# contact} other {# contacts}}":
    "{count, plural, one {# Kontakt} other {# Kontakte}}",
  "{count, plural, one {# conversion} other {# conversions}}":
    "{count, plural, one {# Konversion} other {# Konversionen}}",
  "{count, plural, one {# conversion} other {# conversions}} worth {worth}":
    "{count, plural, one {# Konversion} other {# Konversionen}} im Wert von {worth}",
  "{count, plural, one {# day} other {# days}}": "{count, plural, one {# Tag} other {# Tage}}",
  "{count, plural, one {# error} other {# errors}}":
    "{count, plural, one {# Fehler} other {# Fehler}}",
  "{count, plural, one {# hint} other {# hints}}":
    "{count, plural, one {# Hinweis} other {# Hinweise}}",
  "{count, plural, one {# hour} other {# hours}}":
    "{count, plural, one {# Stunde} other {# Stunden}}",
  "{count, plural, one {# minute} other {# minutes}}":
    "{count, plural, one {# Minute} other {# Minuten}}",
  "{count, plural, one {# more character} other {# more characters}}":
    "Noch {count, plural, one {# Zeichen} other {# Zeichen}}",
  "{count, plural, one {# new item} other {# new items}}":
    "{count, plural, one {# neuer Eintrag} other {# neue Einträge}}",
  "{count, plural, one {# new item} other {# new items}} in {feed}":
    "{count, plural, one {# neuer Eintrag} other {# neue Einträge}} in {feed}",
  "{count, plural, one {# property} other {# properties}}":
    "{count, plural, one {# Eigenschaft} other {# Eigenschaften}}",
  "{count, plural, one {# recipient} other {# recipients}}":
    "{count, plural, one {# Empfänger} other {# Empfänger}}",
  "{count, plural, one {# result} other {# results}}":
    "{count, plural, one {# Ergebnis} other {# Ergebnisse}}",
  "{count, plural, one {# row} other {# rows}}": "{count, plural, one {# Zeile} other {# Zeilen}}",
  "{count, plural, one {# row} other {# rows}} read":
    "{count, plural, one {# Zeile} other {# Zeilen}} gelesen",
  "{count, plural, one {# submission} other {# submissions}}":
    "{count, plural, one {# Einsendung} other {# Einsendungen}}",
  "{count, plural, one {# thing} other {# things}} to complete":
    "Noch {count, plural, one {# Angabe} other {# Angaben}} nötig",
  "{count, plural, one {# warning} other {# warnings}}":
    "{count, plural, one {# Warnung} other {# Warnungen}}",
  "{count, plural, one {# week} other {# weeks}}":
    "{count, plural, one {# Woche} other {# Wochen}}",
  "{count} jobs at work": "{count} Aufgaben laufen",
  "{count} jobs finished": "{count} Aufgaben fertig",
  "{count} match": "{count} Treffer",
  "{count} more": "{count} weitere",
  "{count} or more": "{count} oder mehr",
  "{count} or more match": "{count} oder mehr Treffer",
  "{count} rights": "{count} Rechte",
  "{count} selected": "{count} ausgewählt",
  "{count} ways by chance": "{count} zufällige Wege",
  "{days, plural, one {# day} other {# days}}": "{days, plural, one {# Tag} other {# Tage}}",
  "{days, plural, one {# day} other {# days}} after {name}":
    "{days, plural, one {# Tag} other {# Tage}} nach {name}",
  "{days, plural, one {# day} other {# days}} before {name}":
    "{days, plural, one {# Tag} other {# Tage}} vor {name}",
  "{days} at {hour}:00": "{days} um {hour}:00 Uhr",
  "{done} of {accepted} emails are handed over.": "{done} von {accepted} E-Mails übergeben.",
  "{done} of {count} steps are done.": "{done} von {count} Schritten sind erledigt.",
  "{emails} emails": "{emails} E-Mails",
  "{emails} emails in {days} days": "{emails} E-Mails in {days} Tagen",
  "{emails} wait for the local time of their contacts. The last leave at {lastAt}.":
    "Warten auf die Ortszeit ihrer Kontakte: {emails}. Letzter Versand: {lastAt}.",
  "{email} gets an email with the subject and a link, without the message.":
    "{email} erhält eine E-Mail mit dem Betreff und einem Link, ohne die Nachricht.",
  "{email} is signed out at once and can no longer see this organization.":
    "{email} wird sofort abgemeldet und kann diese Organisation nicht mehr sehen.",
  "{end}, with a value of {value}": "{end}, mit einem Wert von {value}",
  "{enrolled} added. {failed} could not be added:":
    "{enrolled} hinzugefügt. {failed} konnten nicht hinzugefügt werden:",
  "{error}. It is tried again.": "{error}. Es wird wieder versucht.",
  "{failed} failed or bounced": "{failed} fehlgeschlagen oder unzustellbar",
  "{failed} not done": "{failed} nicht erledigt",
  "{failed} not done, for example: {error}": "{failed} nicht erledigt, zum Beispiel: {error}",
  "{failed} of {all} connections to your mail servers failed.":
    "{failed} von {all} Verbindungen zu Ihren Mailservern sind gescheitert.",
  "{feed} was read on {at}.": "{feed} wurde am {at} gelesen.",
  "{fromEmail} by {provider}": "{fromEmail} über {provider}",
  ["{hello}\nbegin with the one thing that readers should remember. Two or three " +
    "sentences are enough: the rest is behind the link."]:
    "{hello}\nbeginnen Sie mit dem, was Ihre Leser behalten sollen. Zwei, drei Sätze " +
    "genügen: Der Rest steht hinter dem Link.",
  "{hello}\nhere is room for the details: what changes, from when, and for whom.":
    "{hello}\nhier ist Platz für Einzelheiten: was sich ändert, ab wann und für wen.",
  "{hello}\nthank you for joining us. Here is what people do first:":
    "{hello}\nvielen Dank, dass Sie dabei sind. Damit fangen die meisten an:",
  "{hello}\nthis is what we have built since the last update.":
    "{hello}\ndas haben wir seit dem letzten Update entwickelt.",
  "{hello}\nwe have got your order '{{' orderNumber '}}'. This is your receipt.":
    "{hello}\nwir haben Ihre Bestellung '{{' orderNumber '}}' erhalten. Hier ist Ihr Beleg.",
  "{hello}\nwe would love to see you there.": "{hello}\nwir würden uns freuen, Sie zu sehen.",
  "{here} wait to start": "{here} warten auf den Start",
  "{iconplayerplayfilled} Add the picture of the video":
    "{iconplayerplayfilled} Bild des Videos hinzufügen",
  "{id} deleted. Undo brings it back.": "{id} gelöscht. „Rückgängig“ stellt es wieder her.",
  "{id} duplicated.": "{id} dupliziert.",
  "{kbd}{kbd2} move <kbd3>Enter</kbd3> open {kbd4} select {kbd5} search":
    "{kbd}{kbd2} bewegen <kbd3>Enter</kbd3> öffnen {kbd4} auswählen {kbd5} suchen",
  "{kept} stays. It keeps its address and its fields, and takes the fields that it lacks.":
    "{kept} bleibt, behält Adresse und Felder und übernimmt die Felder, die ihm fehlen.",
  "{label} (optional)": "{label} (optional)",
  "{label} in an item": "{label} im Eintrag",
  "{label}, of those chosen": "{label}, von den gewählten",
  "{label}: {text}, limit {limitText}": "{label}: {text}, Grenze {limitText}",
  ["{left, plural, one {# contact of the audience gets} other {# contacts of the audience " +
    "get}} nothing."]:
    "{left, plural, one {# Kontakt des Empfängerkreises erhält} other {# Kontakte des " +
    "Empfängerkreises erhalten}} nichts.",
  "{localTime}, local time": "{localTime} Ortszeit",
  "{mailed} of {matched} contacts get it.": "{mailed} von {matched} Kontakten erhalten sie.",
  "{message}: choose another one.": "{message}: Bitte neu auswählen.",
  "{milliseconds} ms": "{milliseconds} ms",
  "{minutes} minutes": "{minutes} Minuten",
  "{n, plural, one {# email was} other {# emails were}} left out":
    "{n, plural, one {# E-Mail wurde} other {# E-Mails wurden}} ausgelassen",
  "{name} added.": "{name} hinzugefügt.",
  "{name} can be edited here, but not all of it can be shown as it was:":
    "{name} lässt sich hier bearbeiten, aber nicht alles erscheint wie im Original:",
  "{name} does not know these credentials: “{message}”":
    "{name} kennt diese Zugangsdaten nicht: „{message}“",
  "{name} is deleted": "{name} gelöscht",
  "{name} is not deleted": "{name} nicht gelöscht",
  "{name} is your site. Settings › Sites changes its name, and adds further ones.":
    "{name} ist Ihre Website. Unter Einstellungen › Websites ändern Sie den Namen und " +
    "fügen weitere hinzu.",
  "{name} moved down.": "{name} nach unten verschoben.",
  "{name} moved up.": "{name} nach oben verschoben.",
  "{name} moved.": "{name} verschoben.",
  "{name} was left out.": "{name} wurde weggelassen.",
  "{name}, all times in {timezone}": "{name}, alle Zeiten in {timezone}",
  "{name}, {plan} plan": "{name}, Tarif {plan}",
  "{number} emails": "{number} E-Mails",
  "{number} emails; under 5 % is healthy": "{number} E-Mails; unter 5 % ist gut",
  "{number} emails{sinceText}": "{number} E-Mails{sinceText}",
  "{number} KB": "{number} KB",
  "{number} MB": "{number} MB",
  "{number} more domains are in the API.": "{number} weitere Domains stehen in der API.",
  "{number} more sources are in the API.": "{number} weitere Quellen stehen in der API.",
  "{number} passed": "{number} durchgelaufen",
  "{open, plural, one {# step is} other {# steps are}} not complete yet.":
    "{open, plural, one {# Schritt ist} other {# Schritte sind}} noch nicht vollständig.",
  "{opened} opened": "{opened} geöffnet",
  "{open} of {count} steps of the set-up are not done. <button>Show them</button>":
    "Noch offen: {open} von {count} Schritten der Einrichtung. <button>Anzeigen</button>",
  "{pixels} pixels": "{pixels} Pixel",
  "{processed} of {total, plural, one {# row} other {# rows}}":
    "{processed} von {total, plural, one {# Zeile} other {# Zeilen}}",
  "{provider} asks for a pause. Check again in a minute.":
    "{provider} bittet um eine Pause. Prüfen Sie in einer Minute erneut.",
  "{provider} cannot reach {detail}. The service needs a public https address for the reports.":
    "{provider} kann {detail} nicht erreichen. Der Dienst braucht für die Meldungen eine " +
    "öffentliche https-Adresse.",
  "{provider} did not answer in time. Check again.":
    "{provider} hat nicht rechtzeitig geantwortet. Prüfen Sie erneut.",
  "{provider} does not know the key: {detail}": "{provider} kennt den Schlüssel nicht: {detail}",
  "{provider} has reported something.": "{provider} hat etwas gemeldet.",
  "{provider} has verified the domain.": "{provider} hat die Domain verifiziert.",
  "{provider} knows the key, and tells no more about the account.":
    "{provider} kennt den Schlüssel und sagt nicht mehr über das Konto.",
  "{provider} refused it: {detail}": "{provider} hat es abgelehnt: {detail}",
  "{provider} reports since {firstEventAt}.": "{provider} meldet seit {firstEventAt}.",
  ["{queued, plural, one {# email that still waits is} other {# emails that still wait " +
    "are}} not sent. Emails that left cannot be taken back. A cancelled campaign cannot be " +
    "resumed."]:
    "{queued, plural, one {# noch wartende E-Mail wird} other {# noch wartende E-Mails " +
    "werden}} nicht gesendet. Bereits versandte E-Mails lassen sich nicht zurückholen. " +
    "Eine abgebrochene Kampagne kann nicht fortgesetzt werden.",
  "{provider} reports to another address already, which is kept: {detail}":
    "{provider} meldet schon an eine andere Adresse, die bleibt: {detail}",
  "{provider} reports to this service from now on.": "{provider} meldet ab jetzt an diesen Dienst.",
  "{provider} reports to this service.": "{provider} meldet an diesen Dienst.",
  "{provider} shows it, if you use a bounce address of your own.":
    "{provider} zeigt sie, falls Sie eine eigene Rückläufer-Adresse nutzen.",
  "{provider} shows its name and its value.": "{provider} zeigt Name und Wert.",
  "{provider} shows its value.": "{provider} zeigt den Wert.",
  "{provider} waits for the DNS records below.": "{provider} wartet auf die DNS-Einträge unten.",
  "{reasonmark} since {createdAt}. {meaning}": "{reasonmark} seit {createdAt}. {meaning}",
  "{recipient} gets no further summary of this site.":
    "{recipient} erhält keine weitere Zusammenfassung dieser Website.",
  "{recoveryCodesLeft} recovery codes are left. <button>Create new codes</button>":
    "Noch {recoveryCodesLeft} Wiederherstellungscodes übrig. <button>Neue Codes " +
    "erstellen</button>",
  "{refused, plural, one {# row} other {# rows}} of the first {shown} cannot be imported.":
    "{refused, plural, one {# Zeile} other {# Zeilen}} der ersten {shown} {refused, " +
    "plural, one {kann} other {können}} nicht importiert werden.",
  "{schedule}, a new campaign goes to this audience.":
    "{schedule} geht eine neue Kampagne an diesen Empfängerkreis.",
  "{sender} by {provider}": "{sender} über {provider}",
  "{sent, plural, one {# test email is} other {# test emails are}} on the way.":
    "{sent, plural, one {# Test-E-Mail ist} other {# Test-E-Mails sind}} unterwegs.",
  "{sentItems} of {newItems}": "{sentItems} von {newItems}",
  "{sentLast24Hours} of {emailsPer24Hours} emails in 24 hours":
    "{sentLast24Hours} von {emailsPer24Hours} E-Mails in 24 Stunden",
  "{sent} sent": "{sent} gesendet",
  "{share} opened": "{share} geöffnet",
  "{start} to {end}": "{start} bis {end}",
  "{step}: go on with": "{step}: weiter mit",
  "{text} On the suppression list: {addresses}": "{text} Auf der Sperrliste: {addresses}",
  "{text} On this device: {local} ({here}).": "{text} Auf diesem Gerät: {local} ({here}).",
  "{text} The reason: {message}": "{text} Der Grund: {message}",
  "{time} ({iso} in {own})": "{time} ({iso} in {own})",
  "{total} emails": "{total} E-Mails",
  "{total} in all": "{total} insgesamt",
  ["{waiting, plural, one {# contact is at step {step}, which is deleted. It completes " +
    "the sequence.} other {# contacts are at step {step}, which is deleted. They complete " +
    "the sequence.}}"]:
    "{waiting, plural, one {# Kontakt ist bei Schritt {step}, der gelöscht wird. Er " +
    "schließt die Automation ab.} other {# Kontakte sind bei Schritt {step}, der gelöscht " +
    "wird. Sie schließen die Automation ab.}}",
  ["{waiting, plural, one {# contact is at step {step}, which is deleted. It goes on with " +
    "step {continuesAt} of the draft.} other {# contacts are at step {step}, which is " +
    "deleted. They go on with step {continuesAt} of the draft.}}"]:
    "{waiting, plural, one {# Kontakt ist bei Schritt {step}, der gelöscht wird. Er macht " +
    "mit Schritt {continuesAt} des Entwurfs weiter.} other {# Kontakte sind bei Schritt " +
    "{step}, der gelöscht wird. Sie machen mit Schritt {continuesAt} des Entwurfs weiter.}}",
  "{user} is not read any more, and its password is deleted. Its email stays there.":
    "{user} wird nicht mehr gelesen, und das Passwort wird gelöscht. Die E-Mails bleiben dort.",
  "{waiting, plural, one {# contact is} other {# contacts are}} at step {step}, which changes.":
    "{waiting, plural, one {# Kontakt ist} other {# Kontakte sind}} bei Schritt {step}, " +
    "der sich ändert.",
  "{waiting} here": "{waiting} hier",
  "{when} at {time}": "{when} um {time} Uhr",
  "{when} at {time}, local time of each contact": "{when} um {time} Uhr, Ortszeit jedes Kontakts",
  "{width} × {height} pixels, {size}": "{width} × {height} Pixel, {size}",
  '{{ firstName | default: "there" }}': '{{ firstName | default: "zusammen" }}',
  ["“Connect” lets the provider report opens, bounces and complaints. By hand, enter " +
    "this address there:"]:
    "„Verbinden“ lässt den Anbieter Öffnungen, Bounces und Beschwerden melden. Von Hand " +
    "geben Sie dort diese Adresse ein:",
  "“{eventName}” happens": "„{eventName}“ tritt ein",
  "“{header}” goes to the same field as another column.":
    "„{header}“ hat dasselbe Feld wie eine andere Spalte.",
};
