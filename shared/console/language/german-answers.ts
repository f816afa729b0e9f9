// Sentences that the service writes, in German, by the English pattern. `{name}` stands for any
// text. A value, or an item of a list in it, is translated too if it has a pattern. A longer
// pattern counts first. test/unit/service-sentences.test.ts finds patterns that no source has.

/** Roles of members. */
const roles = {
  "Everything. An organization always has an owner.":
    "Alles. Eine Organisation hat immer einen Inhaber.",
  ["Everything except to change the plan, to pay, to set up single sign-on, and to change " +
    "owners."]:
    "Alles, außer den Tarif zu ändern, zu zahlen, Single Sign-on einzurichten und Inhaber zu " +
    "ändern.",
  ["Audience with exports, content, campaigns, sequences and statistics. No credentials, no " +
    "single emails and no billing."]:
    "Kontakte mit Exporten, Inhalte, Kampagnen, Automationen und Statistik. Keine " +
    "Zugangsdaten, keine einzelnen E-Mails, keine Abrechnung.",
  ["API keys, webhooks, sending configs, domains, single emails, what is in sent emails, " +
    "contacts and templates. No export of contacts, no campaigns and no billing."]:
    "API-Schlüssel, Webhooks, Absender, Domains, einzelne E-Mails, Inhalte gesendeter E-Mails, " +
    "Kontakte und Vorlagen. Kein Export von Kontakten, keine Kampagnen, keine Abrechnung.",
  "Reads audience, content, campaigns, sends and statistics. Changes nothing.":
    "Liest Kontakte, Inhalte, Kampagnen, Sendungen und Statistik. Ändert nichts.",
};

/** Playbooks of sequences. */
const playbooks = {
  Welcome: "Willkommen",
  Onboarding: "Erste Schritte",
  "Trial ending": "Ende der Testphase",
  "Abandoned cart": "Verlassener Warenkorb",
  "Post purchase": "Nach dem Kauf",
  "Win-back": "Rückgewinnung",
  "Re-engagement": "Reaktivierung",
  "Event follow-up": "Nach einer Veranstaltung",
  Birthday: "Geburtstag",
  Renewal: "Verlängerung",
  ["Greets new subscribers at once, shows them your best content, and asks what they are " +
    "interested in."]:
    "Begrüßt neue Abonnenten sofort, zeigt ihnen Ihre besten Inhalte und fragt, was sie " +
    "interessiert.",
  "Three mails in six days.": "Drei E-Mails in sechs Tagen.",
  "Takes new users to their first success, one step at a time.":
    "Führt neue Nutzer Schritt für Schritt zum ersten Erfolg.",
  ["Users who get the tag activated on the way are congratulated and leave early; all others " +
    "are offered help."]:
    "Wer unterwegs das Tag activated erhält, bekommt Glückwünsche und ist fertig; alle anderen " +
    "erhalten Hilfe.",
  "Three mails around the end of a trial.": "Drei E-Mails rund um das Ende einer Testphase.",
  ["Apply the tag trial-ending three days before the trial ends; contacts who get the tag " +
    "customer receive no further mails."]:
    "Vergeben Sie das Tag trial-ending drei Tage vor dem Ende; Kontakte mit dem Tag customer " +
    "erhalten keine weiteren E-Mails.",
  "Brings people back to their abandoned cart, and shows what is in it.":
    "Bringt Menschen zu ihrem Warenkorb zurück und zeigt, was darin liegt.",
  ["Record the custom event cart_abandoned with the property items, and order_placed with " +
    "every order: who orders leaves at once, and the order counts with its total."]:
    "Melden Sie das Ereignis cart_abandoned mit der Eigenschaft items und bei jeder Bestellung " +
    "order_placed: Wer bestellt, scheidet sofort aus, und die Bestellung zählt mit ihrem total.",
  ["Thanks customers, helps them make the most of what they bought, and asks for a review, or " +
    "for products that are used up, reminds them to order again."]:
    "Dankt Kunden, hilft ihnen mit dem Gekauften und bittet um eine Bewertung oder erinnert " +
    "bei Verbrauchsware an die nächste Bestellung.",
  ["Record the custom event order_placed with every order, with its items, and with the " +
    "category refill for products that are used up."]:
    "Melden Sie bei jeder Bestellung das Ereignis order_placed mit items und für " +
    "Verbrauchsware mit category refill.",
  "For customers who have not ordered for a long time.":
    "Für Kunden, die lange nichts bestellt haben.",
  "Apply the tag lapsed through a segment of your own.":
    "Vergeben Sie das Tag lapsed über ein eigenes Segment.",
  ["Record the custom event order_placed with every order: who orders leaves at once, and the " +
    "order counts with its total."]:
    "Melden Sie bei jeder Bestellung das Ereignis order_placed: Wer bestellt, scheidet sofort " +
    "aus, und die Bestellung zählt mit ihrem total.",
  "For subscribers who have not opened anything for months.":
    "Für Abonnenten, die seit Monaten nichts geöffnet haben.",
  "Subscribers who open or click stay; all others are told how to leave.":
    "Wer öffnet oder klickt, bleibt; alle anderen erfahren, wie sie sich abmelden.",
  ["Tag them with quiet, for example by a segment of contacts whose last open was not in the " +
    "last 90 days."]:
    "Geben Sie ihnen das Tag quiet, etwa über ein Segment der Kontakte, die in den letzten 90 " +
    "Tagen nichts geöffnet haben.",
  "After a webinar, talk or trade fair.": "Nach Webinar, Vortrag oder Messe.",
  ["Contacts who attended (tag attended) get the recording and a next step; contacts who " +
    "registered but did not come get the recording with different wording."]:
    "Wer dabei war (Tag attended), erhält die Aufzeichnung und einen nächsten Schritt; wer " +
    "angemeldet war und nicht kam, die Aufzeichnung mit anderen Worten.",
  "Apply the tag event-over when the event is over.":
    "Vergeben Sie das Tag event-over nach der Veranstaltung.",
  ["Congratulates on the birthday in the custom field birthday, every year at nine in the " +
    "morning of the contact."]:
    "Gratuliert zum Geburtstag im Feld birthday, jedes Jahr um neun Uhr morgens beim Kontakt.",
  ["Reminds of a contract that ends on the date in the custom field renewal: two weeks " +
    "before, a week before and on the day."]:
    "Erinnert an einen Vertrag, der am Datum im Feld renewal endet: zwei Wochen vorher, eine " +
    "Woche vorher und am Tag selbst.",
  ["Record the custom event renewed with every renewal: who renews leaves at once, and the " +
    "renewal counts with its total."]:
    "Melden Sie bei jeder Verlängerung das Ereignis renewed: Wer verlängert, scheidet sofort " +
    "aus, und die Verlängerung zählt mit ihrem total.",
};

/** Health of the sending. */
const health = {
  ["The provider has reported nothing about the mails of this period: check that its webhook " +
    "is set up."]:
    "Der Anbieter hat zu den E-Mails dieses Zeitraums nichts gemeldet: Prüfen Sie, ob seine " +
    "Meldungen eingerichtet sind.",
  "Nothing was sent in this period, so there is nothing to judge.":
    "In diesem Zeitraum wurde nichts gesendet, also gibt es nichts zu beurteilen.",
  "{rate} of the mails that arrived were reported as spam ({count}).":
    "{rate} der angekommenen E-Mails wurden als Spam gemeldet ({count}).",
  "{rate} of the mails bounced ({count}).": "{rate} der E-Mails waren unzustellbar ({count}).",
  "The most frequent bounce reason: {reason} ({count}).": "Häufigster Grund: {reason} ({count}).",
  ["Only {rate} of the mails are known to have arrived: check whether the provider reports " +
    "its events."]:
    "Nur von {rate} der E-Mails ist bekannt, dass sie ankamen: Prüfen Sie, ob der Anbieter " +
    "seine Ereignisse meldet.",
  ["Only {rate} of the mails that arrived were opened by people: write only to people who " +
    "want to hear from you."]:
    "Nur {rate} der angekommenen E-Mails wurden von Menschen geöffnet: Schreiben Sie nur an " +
    "Menschen, die von Ihnen hören wollen.",
  "Only {count} mail was sent, which is too few for reliable rates.":
    "Nur {count} E-Mail wurde gesendet, zu wenig für verlässliche Quoten.",
  "Only {count} mails were sent, which is too few for reliable rates.":
    "Nur {count} E-Mails wurden gesendet, zu wenig für verlässliche Quoten.",
  "This is a healthy rate.": "Das ist eine gesunde Quote.",
  "This rate is acceptable, but watch it.":
    "Die Quote ist in Ordnung, aber behalten Sie sie im Auge.",
  ["Mailbox providers distrust senders from 0.1 %: make it easy to unsubscribe, and write " +
    "less often to people who do not open your mail."]:
    "Ab 0,1 % misstrauen Postfach-Anbieter dem Absender: Machen Sie das Abmelden leicht, und " +
    "schreiben Sie seltener an Menschen, die Ihre E-Mails nicht öffnen.",
  ["Mailbox providers reject mail from senders with 0.5 % or more: stop writing to people who " +
    "did not ask for your mail."]:
    "Ab 0,5 % lehnen Postfach-Anbieter E-Mails ab: Schreiben Sie niemandem mehr, der nicht " +
    "darum gebeten hat.",
  ["At 5 % or more, mailbox providers distrust the list: check new addresses before you add " +
    "them, or use double opt-in."]:
    "Ab 5 % misstrauen Postfach-Anbieter der Liste: Prüfen Sie neue Adressen, bevor Sie sie " +
    "aufnehmen, oder nutzen Sie Double-Opt-in.",
  ["At 10 % or more, mailbox providers reject mail: stop sending, and remove old addresses " +
    "from the list."]:
    "Ab 10 % lehnen Postfach-Anbieter E-Mails ab: Senden Sie nicht weiter, und entfernen Sie " +
    "alte Adressen aus der Liste.",
  "The sender failed SPF, DKIM or DMARC authentication":
    "Der Absender hat SPF, DKIM oder DMARC nicht bestanden",
  "The recipient's server rejected the mail as spam, by a blocklist or by a rule":
    "Der Server des Empfängers hat die E-Mail als Spam, per Sperrliste oder Regel abgelehnt",
  "The mailbox is full": "Das Postfach ist voll",
  "The mail is too large": "Die E-Mail ist zu groß",
  "The content or an attachment was refused": "Der Inhalt oder ein Anhang wurde abgelehnt",
  "The domain does not exist or does not accept mail":
    "Die Domain gibt es nicht, oder sie nimmt keine E-Mails an",
  "The mailbox is disabled": "Das Postfach ist stillgelegt",
  "The mailbox does not exist": "Das Postfach gibt es nicht",
  "The server was busy, slow or unreachable":
    "Der Server war überlastet, langsam oder unerreichbar",
  "The server gave another reason, or none": "Der Server nannte einen anderen Grund oder keinen",
};

/** What needs attention at home. */
const attention = {
  ["The email address of the account is not verified, so nothing can be sent. Open the link " +
    "in the email, or have it sent again."]:
    "Die E-Mail-Adresse des Kontos ist nicht bestätigt, deshalb kann nichts gesendet werden. " +
    "Öffnen Sie den Link in der E-Mail, oder lassen Sie ihn erneut senden.",
  ["The provider has accepted no email of the sender {name} for a while. Email waits and " +
    "is tried again for 24 hours. Check the account at the provider."]:
    "Der Anbieter nimmt seit einer Weile keine E-Mail des Absenders {name} an. Die E-Mails " +
    "warten und werden 24 Stunden lang erneut versucht. Prüfen Sie das Konto beim Anbieter.",
  "The sender {name} is not verified. Send a test email with it.":
    "Der Absender {name} ist nicht geprüft. Senden Sie damit eine Test-E-Mail.",
  ["The provider of the sender {name} has not reported any event yet. Deliveries, opens, " +
    "clicks and bounces are not known, and addresses that bounced get email again. Enter the " +
    "webhook address of the sender at the provider."]:
    "Der Anbieter des Absenders {name} hat noch kein Ereignis gemeldet. Zustellungen, " +
    "Öffnungen, Klicks und Rückläufer sind nicht bekannt, und unzustellbare Adressen erhalten " +
    "weiter E-Mails. Tragen Sie die Adresse für die Meldungen beim Anbieter ein.",
  ["{used} of {allowed} emails that the provider allows in 24 hours are used by the " +
    "sender {name}."]:
    "{used} von {allowed} E-Mails, die der Anbieter in 24 Stunden erlaubt, hat der Absender " +
    "{name} verbraucht.",
  "The domain {name} is not verified any more.": "Die Domain {name} ist nicht mehr bestätigt.",
  "{used} of the {included} emails of the plan are used ({share}).":
    "{used} von {included} E-Mails des Tarifs sind verbraucht ({share}).",
  "Further emails take credits.": "Weitere E-Mails verbrauchen Guthaben.",
  "Without credits, further emails are refused: buy credits or change the plan.":
    "Ohne Guthaben werden weitere E-Mails abgelehnt: Kaufen Sie Guthaben, oder wechseln Sie " +
    "den Tarif.",
  ["The webhook endpoint at {host} gets no events any more: {reason}. Activate it again when " +
    "it works."]:
    "Der Webhook bei {host} erhält keine Ereignisse mehr: {reason}. Aktivieren Sie ihn wieder, " +
    "wenn er funktioniert.",
  ["Deliveries to the webhook endpoint at {host} fail. After five days the endpoint is set " +
    "inactive."]:
    "Zustellungen an den Webhook bei {host} schlagen fehl. Nach fünf Tagen wird er " +
    "abgeschaltet.",
  "The import of {file} failed: {reason}": "Der Import von {file} ist fehlgeschlagen: {reason}",
  'The campaign "{name}" is {state}: {reason}': "Die Kampagne „{name}“ {state}: {reason}",
  "a draft again": "ist wieder ein Entwurf",
  'The sequence "{name}" is paused: {reason}': "Die Automation „{name}“ ist angehalten: {reason}",
  ["For {count} emails of the last 90 days it is unknown whether the provider accepted them. " +
    "They are settled when it reports or finds them; check that its webhook is set up. After " +
    "72 hours, send the others again or close them: the log lists them by the status " +
    "`uncertain`."]:
    "Bei {count} E-Mails der letzten 90 Tage ist unbekannt, ob der Anbieter sie angenommen " +
    "hat. Das klärt sich, wenn er sie meldet oder findet; prüfen Sie, ob seine Meldungen " +
    "eingerichtet sind. Nach 72 Stunden senden Sie die übrigen erneut, oder schließen Sie sie " +
    "ab: Das Protokoll zeigt sie unter dem Status „Ungewiss“.",
};

/** Why an email did not arrive. */
const deliveries = {
  "The latest email, “{subject}” of {time}, {what}":
    "Die neueste E-Mail „{subject}“ vom {time} {what}",
  "The email of the campaign, “{subject}” of {time}, {what}":
    "Die E-Mail der Kampagne „{subject}“ vom {time} {what}",
  "waits because its campaign, sequence or holiday email is paused.":
    "wartet, weil ihre Kampagne, Automation oder Feiertags-E-Mail angehalten ist.",
  "Resume it.": "Setzen Sie sie fort.",
  "waits until {until}, because {reason}": "wartet bis {until}: {reason}",
  "waits, because {reason}": "wartet: {reason}",
  "the provider of the sending config fails.": "Der Anbieter des Absenders ist gestört.",
  "the provider of the sending config fails. The provider says: “{words}”":
    "Der Anbieter des Absenders ist gestört. Er sagt: „{words}“",
  ["the provider accepts no more email for now: its rate limit is reached, or the account has " +
    "no emails or credits left."]:
    "Der Anbieter nimmt gerade keine E-Mails mehr an: Sein Limit ist erreicht, oder das Konto " +
    "hat kein Guthaben mehr.",
  "Nothing: it is tried again by itself for 24 hours. Check the provider's status page.":
    "Nichts zu tun: Sie wird 24 Stunden lang von selbst erneut versucht. Sehen Sie auf der " +
    "Statusseite des Anbieters nach.",
  ["Check at the provider whether the account has emails or credits left. If it has, nothing: " +
    "it is handed over by itself. A higher limit there makes it faster."]:
    "Prüfen Sie beim Anbieter, ob das Konto noch Guthaben hat. Wenn ja, geht sie von selbst " +
    "hinaus. Ein höheres Limit dort beschleunigt es.",
  "the warm-up of its sending config has reached the limit of today.":
    "Die Aufwärmphase ihres Absenders hat die Grenze von heute erreicht.",
  ["Nothing: it goes out on the next day. To send sooner, change the warm-up of the sending " +
    "config."]:
    "Nichts zu tun: Sie geht am nächsten Tag hinaus. Soll sie früher gehen, ändern Sie die " +
    "Aufwärmphase des Absenders.",
  "the recipient's domain deferred several emails.":
    "Die Domain des Empfängers hat mehrere E-Mails aufgeschoben.",
  "Nothing: it goes out when the pause of the domain ends.":
    "Nichts zu tun: Sie geht hinaus, wenn die Pause der Domain endet.",
  "is scheduled for {time}.": "ist für {time} geplant.",
  "Wait, or cancel it and send it again without a time.":
    "Warten Sie, oder brechen Sie sie ab und senden Sie sie ohne Zeitpunkt.",
  "Wait: its campaign mails each contact at the local time of the contact.":
    "Warten Sie: Ihre Kampagne schreibt jedem Kontakt zu dessen Ortszeit.",
  "waits for its turn: the emails before it in its sending config go first.":
    "wartet, bis sie an der Reihe ist: Frühere E-Mails ihres Absenders gehen zuerst hinaus.",
  "Wait a few minutes. If nothing moves, look at the sending health of the organization.":
    "Warten Sie einige Minuten. Wenn sich nichts bewegt, sehen Sie auf der Startseite unter " +
    "Zustand nach.",
  "is being handed to the provider right now.": "wird gerade dem Anbieter übergeben.",
  "Ask again in a minute.": "Fragen Sie in einer Minute noch einmal.",
  "was accepted by {provider}, and the recipient's system answered by itself: “{words}”.":
    "wurde von {provider} angenommen, und das System des Empfängers antwortete von selbst: " +
    "„{words}“.",
  "Nothing: an automatic reply, such as during a vacation, shows that the mailbox works.":
    "Nichts zu tun: Eine automatische Antwort, etwa im Urlaub, zeigt, dass das Postfach " +
    "funktioniert.",
  "was accepted by {provider}, but the recipient's server defers it: “{words}”.":
    "wurde von {provider} angenommen, aber der Server des Empfängers schiebt sie auf: " +
    "„{words}“.",
  "Nothing: the provider tries again, usually for up to three days.":
    "Nichts zu tun: Der Anbieter versucht es erneut, meist bis zu drei Tage lang.",
  "was accepted by {provider} on {time}, and the provider has reported nothing since.":
    "wurde von {provider} am {time} angenommen, und seitdem hat der Anbieter nichts gemeldet.",
  ["If no email of this sending config is ever reported as delivered, set its webhook at the " +
    "provider. Otherwise ask the provider, and name its id of the email."]:
    "Wird keine E-Mail dieses Absenders je als zugestellt gemeldet, richten Sie seine " +
    "Meldungen beim Anbieter ein. Sonst fragen Sie den Anbieter, und nennen Sie seine Kennung " +
    "der E-Mail.",
  "arrived and was opened on {time}.": "ist angekommen und wurde am {time} geöffnet.",
  "Nothing: a person has seen it.": "Nichts zu tun: Ein Mensch hat sie gesehen.",
  "was accepted by the recipient's server on {time}.":
    "wurde vom Server des Empfängers am {time} angenommen.",
  ["Look in the spam folder and in other folders. The time and the provider's id of the email " +
    "help the administrator of the recipient's server."]:
    "Sehen Sie im Spam-Ordner und in anderen Ordnern nach. Zeit und Kennung der E-Mail beim " +
    "Anbieter helfen dem Verwalter des Servers.",
  "may or may not have reached the provider: the connection broke before it answered.":
    "hat den Anbieter vielleicht erreicht: Die Verbindung brach ab, bevor er antwortete.",
  ["Wait: an event, or a search at the provider, may still settle it. If you know whether it " +
    "was sent, say so. From 72 hours on, it can be sent again."]:
    "Warten Sie: Ein Ereignis oder eine Suche beim Anbieter kann es noch klären. Wissen Sie, " +
    "ob sie gesendet wurde, geben Sie es an. Nach 72 Stunden kann sie erneut gesendet werden.",
  "was cancelled before it was handed over.": "wurde vor der Übergabe abgebrochen.",
  "Send it again.": "Senden Sie sie erneut.",
  "bounced: the recipient's server refused it.":
    "war unzustellbar: Der Server des Empfängers hat sie abgelehnt.",
  "bounced: the recipient's server refused it: “{words}”.":
    "war unzustellbar: Der Server des Empfängers hat sie abgelehnt: „{words}“.",
  "Correct the address, or ask its owner. The server's words say why.":
    "Berichtigen Sie die Adresse, oder fragen Sie ihren Inhaber. Die Worte des Servers sagen, " +
    "warum.",
  "Send it again later: the mailbox takes no email for now. The server's words say why.":
    "Senden Sie sie später erneut: Das Postfach nimmt gerade nichts an. Die Worte des Servers " +
    "sagen, warum.",
  "was never accepted by {provider}: “{words}”.": "wurde von {provider} nie angenommen: „{words}“.",
  "Solve what the message names, then send again.":
    "Beheben Sie, was die Meldung nennt, und senden Sie dann erneut.",
  "was refused because of its content, its size or an attachment: “{words}”.":
    "wurde wegen Inhalt, Größe oder Anhang abgelehnt: „{words}“.",
  "Change the email, then send it again. The address is not suppressed.":
    "Ändern Sie die E-Mail, und senden Sie sie dann erneut. Die Adresse ist nicht gesperrt.",
  "was refused because of its sender: “{words}”.":
    "wurde wegen ihres Absenders abgelehnt: „{words}“.",
  ["Check the DNS records of the sender's domain, its reputation and the limits of the " +
    "account at the provider, then send it again. The address is not suppressed."]:
    "Prüfen Sie die DNS-Einträge der Domain, ihren Ruf und die Grenzen des Kontos beim " +
    "Anbieter, und senden Sie dann erneut. Die Adresse ist nicht gesperrt.",
  "was not sent by {provider}, which has the address on its own suppression list: “{words}”.":
    "wurde von {provider} nicht gesendet, weil die Adresse auf dessen eigener Sperrliste " +
    "steht: „{words}“.",
  ["When the mailbox works and its owner wants the email, remove the address from that list, " +
    "then send again."]:
    "Wenn das Postfach funktioniert und sein Inhaber die E-Mail will, entfernen Sie die " +
    "Adresse aus jener Liste, und senden Sie erneut.",
  "was not sent, because the address was on the suppression list. It is no longer there.":
    "wurde nicht gesendet, weil die Adresse auf der Sperrliste stand. Dort steht sie nicht " +
    "mehr.",
  "was not sent, because the contact was not subscribed when its turn came.":
    "wurde nicht gesendet, weil der Kontakt nicht abonniert war, als er an der Reihe war.",
  "Nothing, unless the recipient subscribed again.":
    "Nichts, solange der Empfänger sich nicht neu anmeldet.",
  "was not sent, because the contact was not subscribed to its topic when its turn came.":
    "wurde nicht gesendet, weil der Kontakt ihr Thema nicht abonniert hatte.",
  "Nothing, unless the recipient joins the topic on the preference page.":
    "Nichts, solange der Empfänger das Thema nicht auf der Einstellungsseite wählt.",
  "was not sent, because the contact had paused marketing email on the preference page.":
    "wurde nicht gesendet, weil der Kontakt Marketing-E-Mails auf der Einstellungsseite " +
    "pausiert hatte.",
  "Nothing: the contact gets marketing email again when the pause ends.":
    "Nichts zu tun: Der Kontakt erhält Marketing-E-Mails wieder, wenn die Pause endet.",
  ["was left out by the frequency cap of the site, because other marketing email went out " +
    "before."]:
    "wurde von der Häufigkeitsgrenze der Website ausgelassen, weil vorher andere " +
    "Marketing-E-Mails hinausgingen.",
  "Send later, or shorten the frequency cap in the settings of the site.":
    "Senden Sie später, oder verkürzen Sie die Häufigkeitsgrenze in den Einstellungen der " +
    "Website.",
  "{email} is on the suppression list since {time}, because {cause}. It gets no email.":
    "{email} steht seit {time} auf der Sperrliste: {cause}. Die Adresse erhält keine E-Mails.",
  "an email to it bounced: “{words}”": "Eine E-Mail dorthin war unzustellbar: „{words}“",
  "an email to it bounced": "Eine E-Mail dorthin war unzustellbar",
  "the recipient reported an email as spam": "Der Empfänger hat eine E-Mail als Spam gemeldet",
  "the recipient unsubscribed": "Der Empfänger hat sich abgemeldet",
  "it was added by hand": "Sie wurde von Hand eingetragen",
  "it was imported": "Sie wurde importiert",
  "Leave it there: the recipient does not want this email.":
    "Lassen Sie sie dort: Der Empfänger will diese E-Mails nicht.",
  ["When the mailbox works and its owner wants the email, remove the address from the " +
    "suppression list, then send again."]:
    "Wenn das Postfach funktioniert und sein Inhaber die E-Mail will, entfernen Sie die " +
    "Adresse aus der Sperrliste, und senden Sie erneut.",
  ["The mailbox of {email} takes no email for now: “{words}”. It gets no marketing email " +
    "until {until}, or until an email arrives. Transactional email still goes out."]:
    "Das Postfach von {email} nimmt gerade nichts an: „{words}“. Bis {until} oder bis eine " +
    "E-Mail ankommt, erhält es keine Marketing-E-Mails. Transaktions-E-Mails gehen weiter " +
    "hinaus.",
  ["Nothing: this ends by itself. If the mailbox works again, remove the address from the " +
    "suppression list."]:
    "Nichts zu tun: Das endet von selbst. Funktioniert das Postfach wieder, entfernen Sie die " +
    "Adresse aus der Sperrliste.",
  ["{email} unsubscribed on {time} and gets no marketing email. Transactional email still " +
    "goes out."]:
    "{email} hat sich am {time} abgemeldet und erhält keine Marketing-E-Mails. " +
    "Transaktions-E-Mails gehen weiter hinaus.",
  "{email} unsubscribed and gets no marketing email. Transactional email still goes out.":
    "{email} hat sich abgemeldet und erhält keine Marketing-E-Mails. Transaktions-E-Mails " +
    "gehen weiter hinaus.",
  "Only the recipient should undo this, with a form or on your own page.":
    "Das sollte nur der Empfänger rückgängig machen, mit einem Formular oder auf Ihrer eigenen " +
    "Seite.",
  "{email} has not confirmed its subscription, so it gets no marketing email.":
    "{email} hat die Anmeldung nicht bestätigt und erhält deshalb keine Marketing-E-Mails.",
  "Ask the recipient to open the link in the confirmation email.":
    "Bitten Sie den Empfänger, den Link in der Bestätigungs-E-Mail zu öffnen.",
  ["{email} paused marketing email until {until}, on the preference page. Transactional email " +
    "still goes out."]:
    "{email} hat Marketing-E-Mails bis {until} pausiert, auf der Einstellungsseite. " +
    "Transaktions-E-Mails gehen weiter hinaus.",
  "Only the recipient should end the pause, on the preference page.":
    "Die Pause sollte nur der Empfänger beenden, auf der Einstellungsseite.",
  ["No email to {email} was accepted in the last 90 days. The contact is not subscribed to " +
    "{topics}, and gets no email on that."]:
    "In den letzten 90 Tagen wurde keine E-Mail an {email} angenommen. Der Kontakt hat " +
    "{topics} nicht abonniert und erhält dazu keine E-Mails.",
  ["If the email is on such a topic, only the recipient should join it, on the preference " +
    "page. Otherwise check the audience of the campaign with its preview."]:
    "Gehört die E-Mail zu so einem Thema, sollte nur der Empfänger es wählen, auf der " +
    "Einstellungsseite. Sonst prüfen Sie den Empfängerkreis der Kampagne in ihrer Vorschau.",
  "No email to {email} was accepted in the last 90 days, though nothing prevents it.":
    "In den letzten 90 Tagen wurde keine E-Mail an {email} angenommen, obwohl nichts dagegen " +
    "spricht.",
  ["If a program sends the email, check the response that it got. For a campaign, check the " +
    "audience with its preview."]:
    "Sendet ein Programm die E-Mail, prüfen Sie die Antwort, die es erhielt. Bei einer " +
    "Kampagne prüfen Sie den Empfängerkreis in ihrer Vorschau.",
  ["No email to {email} was accepted in the last 90 days, and no contact of the site has this " +
    "address."]:
    "In den letzten 90 Tagen wurde keine E-Mail an {email} angenommen, und kein Kontakt der " +
    "Website hat diese Adresse.",
  ["Check the spelling and the site. If a program sends the email, check the response that it " +
    "got."]:
    "Prüfen Sie die Schreibweise und die Website. Sendet ein Programm die E-Mail, prüfen Sie " +
    "die Antwort, die es erhielt.",
  ["{email} is left out by the frequency cap of the site, because it got marketing email " +
    "shortly before. The cap ends on {time}."]:
    "{email} wird von der Häufigkeitsgrenze der Website ausgelassen, weil kurz vorher eine " +
    "Marketing-E-Mail hinausging. Die Grenze endet am {time}.",
};

/** Why a campaign did not reach somebody. */
const campaigns = {
  "The campaign “{name}” left {email} out, because {cause} when it was sent.":
    "Die Kampagne „{name}“ hat {email} beim Senden ausgelassen: {cause}.",
  "the address was on the suppression list": "Die Adresse stand auf der Sperrliste",
  ["When the mailbox works and its owner wants the email, remove the address from the " +
    "suppression list."]:
    "Wenn das Postfach funktioniert und sein Inhaber die E-Mail will, entfernen Sie die " +
    "Adresse aus der Sperrliste.",
  "the contact was not subscribed": "Der Kontakt war nicht abonniert",
  "the contact was not subscribed to its topic": "Der Kontakt hatte ihr Thema nicht abonniert",
  "Only the recipient should join the topic, on the preference page.":
    "Das Thema sollte nur der Empfänger wählen, auf der Einstellungsseite.",
  "the contact had paused marketing email on the preference page":
    "Der Kontakt hatte Marketing-E-Mails auf der Einstellungsseite pausiert",
  "the contact had got marketing email within the frequency cap of the site":
    "Der Kontakt hatte innerhalb der Häufigkeitsgrenze schon eine Marketing-E-Mail erhalten",
  "Send the next campaign later, or shorten the frequency cap in the settings of the site.":
    "Senden Sie die nächste Kampagne später, oder verkürzen Sie die Häufigkeitsgrenze in den " +
    "Einstellungen der Website.",
  "another contact with the same address was in the audience already":
    "Ein anderer Kontakt mit derselben Adresse war schon im Empfängerkreis",
  "Nothing: the address got the email once.":
    "Nichts zu tun: Die Adresse hat die E-Mail einmal erhalten.",
  "the address is not valid": "Die Adresse ist ungültig",
  "Correct the address of the contact.": "Berichtigen Sie die Adresse des Kontakts.",
  "the contact was in the hold-out group, which gets no email for comparison,":
    "Der Kontakt war in der Vergleichsgruppe, die keine E-Mail erhält",
  "Nothing: the next campaign draws another hold-out group.":
    "Nichts zu tun: Die nächste Kampagne zieht eine andere Vergleichsgruppe.",
  "the contact had not confirmed its subscription":
    "Der Kontakt hatte seine Anmeldung nicht bestätigt",
  "The campaign “{name}” is being sent, and has not come to {email} yet.":
    "Die Kampagne „{name}“ wird gerade gesendet und ist noch nicht bei {email}.",
  "Ask again in a few minutes.": "Fragen Sie in einigen Minuten noch einmal.",
  "{email} was not in the audience of the campaign “{name}” when it was sent.":
    "{email} war beim Senden nicht im Empfängerkreis der Kampagne „{name}“.",
  ["Check the lists, tags and segments of the campaign, and when the contact was added to " +
    "them."]: "Prüfen Sie Listen, Tags und Segmente der Kampagne, und wann der Kontakt hineinkam.",
  "Send or schedule the campaign.": "Senden oder planen Sie die Kampagne.",
};

/** Checks of an email. */
const checks = {
  "The subject is empty.": "Der Betreff ist leer.",
  "The subject has {count} characters. Phones show about 40.":
    "Der Betreff hat {count} Zeichen. Telefone zeigen etwa 40.",
  "The subject is in capitals, which spam filters count against an email.":
    "Der Betreff steht in Großbuchstaben, was Spamfilter negativ werten.",
  "Links have no address.": "Links haben keine Adresse.",
  "Links contain a placeholder that is not filled in.":
    "Links enthalten einen Platzhalter, der nicht gefüllt wird.",
  "Mail programs do not follow links with this scheme.":
    "Mailprogramme folgen Links mit diesem Schema nicht.",
  "Links do not begin with https://, so they lead nowhere.":
    "Links beginnen nicht mit https:// und führen deshalb nirgendwohin.",
  "Links have no host.": "Links haben keinen Servernamen.",
  "Links begin with http:// and are not encrypted.":
    "Links beginnen mit http:// und sind nicht verschlüsselt.",
  "Images have no address that mail programs can load.":
    "Bilder haben keine Adresse, die Mailprogramme laden können.",
  "Images are inside the HTML. Gmail and Outlook do not show them.":
    "Bilder stecken im HTML. Gmail und Outlook zeigen sie nicht.",
  'Images have no alt text. Give each one, or alt="" if it only decorates the email.':
    'Bilder haben keine Beschreibung. Geben Sie jedem eine, oder alt="", wenn es nur ' +
    "schmückt.",
  ["The HTML has {size} kB. Gmail shows the first 102 kB and hides the rest, with the " +
    "unsubscribe link."]:
    "Das HTML hat {size} kB. Gmail zeigt die ersten 102 kB und verbirgt den Rest samt " +
    "Abmeldelink.",
  "The email has no text. Readers who do not load images see nothing.":
    "Die E-Mail hat keinen Text. Wer keine Bilder lädt, sieht nichts.",
  "The plain text part is made from the HTML. Read it, or write one.":
    "Der Nur-Text-Teil entsteht aus dem HTML. Lesen Sie ihn, oder schreiben Sie einen.",
  "The email has no HTML part, so opens are not counted.":
    "Die E-Mail hat keinen HTML-Teil, deshalb werden Öffnungen nicht gezählt.",
  "Variables have no value in this check and no default, so they are empty.":
    "Variablen haben in dieser Prüfung keinen Wert und keinen Ersatz und bleiben leer.",
  ["The template has no link to {{ unsubscribeUrl }}. Campaigns and sequences add the link in " +
    "the footer; single emails have none."]:
    "Die Vorlage hat keinen Abmeldelink. Kampagnen und Automationen ergänzen ihn in der " +
    "Fußzeile; einzelne E-Mails haben keinen.",
  "Some spam filters count these words against an email. Links and senders weigh more.":
    "Manche Spamfilter werten diese Wörter negativ. Links und Absender zählen mehr.",
};

/** What happened to a contact. */
const timeline = {
  "Created from “{source}”": "Angelegt: „{source}“",
  Created: "Angelegt",
  "Got the tag “{name}”": "Erhielt das Tag „{name}“",
  "Joined the list “{name}”": "Kam in die Liste „{name}“",
  "The contact {email} was merged into this one":
    "Der Kontakt {email} wurde mit diesem zusammengeführt",
  "The address was suppressed: {reason}": "Die Adresse wurde gesperrt: {reason}",
  "The address was suppressed": "Die Adresse wurde gesperrt",
  "Submitted the form “{name}”": "Sandte das Formular „{name}“ ab",
  "Confirmed the form “{name}”": "Bestätigte das Formular „{name}“",
  "Event “{name}”": "Ereignis „{name}“",
  "Viewed a page": "Sah eine Seite an",
  "Viewed {url}": "Sah {url} an",
  "Entered the sequence “{name}”": "Kam in die Automation „{name}“",
  "Completed the sequence “{name}”": "Beendete die Automation „{name}“",
  "Left the sequence “{name}”: {reason}": "Verließ die Automation „{name}“: {reason}",
  "Left the sequence “{name}”": "Verließ die Automation „{name}“",
  "The email “{subject}” waits to be sent": "Die E-Mail „{subject}“ wartet auf den Versand",
  "The email “{subject}” was sent": "Die E-Mail „{subject}“ wurde gesendet",
  "The email “{subject}” failed: {reason}": "Die E-Mail „{subject}“ ist fehlgeschlagen: {reason}",
  "The email “{subject}” failed": "Die E-Mail „{subject}“ ist fehlgeschlagen",
  "The email “{subject}” was cancelled": "Die E-Mail „{subject}“ wurde abgebrochen",
  "The email “{subject}” was delivered": "Die E-Mail „{subject}“ wurde zugestellt",
  "The email “{subject}” bounced: {reason}": "Die E-Mail „{subject}“ war unzustellbar: {reason}",
  "The email “{subject}” bounced": "Die E-Mail „{subject}“ war unzustellbar",
  "The email “{subject}” was deferred: {reason}":
    "Die E-Mail „{subject}“ wurde aufgeschoben: {reason}",
  "The email “{subject}” was deferred": "Die E-Mail „{subject}“ wurde aufgeschoben",
  "The provider dropped the email “{subject}”: {reason}":
    "Der Anbieter hat die E-Mail „{subject}“ verworfen: {reason}",
  "The provider dropped the email “{subject}”": "Der Anbieter hat die E-Mail „{subject}“ verworfen",
  "{who} opened the email “{subject}”": "{who} hat die E-Mail „{subject}“ geöffnet",
  "{who} clicked {url} in the email “{subject}”":
    "{who} hat {url} in der E-Mail „{subject}“ geklickt",
  "{who} sent an email: “{subject}”": "{who} hat eine E-Mail gesendet: „{subject}“",
  "The contact replied: “{subject}”": "Der Kontakt hat geantwortet: „{subject}“",
  "The contact replied": "Der Kontakt hat geantwortet",
  "The contact reported the email “{subject}” as spam":
    "Der Kontakt hat die E-Mail „{subject}“ als Spam gemeldet",
  "The contact unsubscribed from the email “{subject}”":
    "Der Kontakt hat sich über die E-Mail „{subject}“ abgemeldet",
  "A machine": "Eine Maschine",
  "The contact": "Der Kontakt",
  "Subscribed {how}": "Angemeldet {how}",
  "Unsubscribed {how}": "Abgemeldet {how}",
  "Joined the topic “{name}” {how}": "Wählte das Thema „{name}“ {how}",
  "Left the topic “{name}” {how}": "Verließ das Thema „{name}“ {how}",
  "by your organization": "durch Ihre Organisation",
  "on the preference page": "auf der Einstellungsseite",
  "in the mail program": "im Mailprogramm",
  "by a form": "über ein Formular",
  "reported by the provider": "laut Anbieter",
  "taken over from a merged contact": "von einem zusammengeführten Kontakt",
  "by the link of a confirmation email": "über den Link der Bestätigungs-E-Mail",
  "Paused marketing email until {date}": "Pausierte Marketing-E-Mails bis {date}",
  "Ended the pause": "Beendete die Pause",
  "Score {points}: {cause}": "Punkte {points}: {cause}",
};

/** Work in the background. */
const jobs = {
  "Import of {file}": "Import von {file}",
  "Export of {records}": "Export: {records}",
  contacts: "Kontakte",
  suppressions: "Sperrliste",
  "contacts who open nothing": "Kontakte, die nichts öffnen",
  "contacts in several sequences": "Kontakte in mehreren Automationen",
  "contacts in no sequence": "Kontakte in keiner Automation",
  "contacts who stay in a sequence": "Kontakte, die in einer Automation stehen bleiben",
  "the audit of a campaign": "Prüfung einer Kampagne",
  "Audit of the campaign “{name}”": "Prüfung der Kampagne „{name}“",
  "Erasure of the site “{name}”": "Löschung der Website „{name}“",
  "Adds the tag “{name}” to {contacts}": "Tag „{name}“ für {contacts}",
  "Removes the tag “{name}” from {contacts}": "Tag „{name}“ entfernen: {contacts}",
  "Adds {contacts} to the list “{name}”": "{contacts} in die Liste „{name}“",
  "Removes {contacts} from the list “{name}”": "{contacts} aus der Liste „{name}“",
  "Subscribes {contacts} to the topic “{name}”": "{contacts} für das Thema „{name}“ anmelden",
  "Unsubscribes {contacts} from the topic “{name}”": "{contacts} vom Thema „{name}“ abmelden",
  "Enrolls {contacts} in the sequence “{name}”": "{contacts} in die Automation „{name}“",
  "{count} contact": "{count} Kontakt",
  "{count} contacts": "{count} Kontakte",
  "{count} row": "{count} Zeile",
  "{count} rows": "{count} Zeilen",
  "{count} row: {counts}": "{count} Zeile: {counts}",
  "{count} rows: {counts}": "{count} Zeilen: {counts}",
  "{count} contact: {counts}": "{count} Kontakt: {counts}",
  "{count} contacts: {counts}": "{count} Kontakte: {counts}",
  "{count} added": "{count} hinzugefügt",
  "{count} changed": "{count} geändert",
  "{count} skipped": "{count} übersprungen",
  "{count} refused": "{count} abgelehnt",
  "{count} done": "{count} erledigt",
  "{count} not possible": "{count} nicht möglich",
  "{count} converted": "{count} umgewandelt",
  "{done} of {count} rows": "{done} von {count} Zeilen",
  "{done} of {count} contacts": "{done} von {count} Kontakten",
  "Stopped after {count}": "Gestoppt nach {count}",
  Stopping: "Wird gestoppt",
  "Waiting to start": "Wartet auf den Start",
  "Getting ready": "Wird vorbereitet",
};

/** What the checks of a domain found. */
const domainAdvice = {
  "Almost all email passes DMARC.": "Fast alle E-Mails bestehen DMARC.",
  "BIMI needs the DMARC policy quarantine or reject for all email (no pct below 100).":
    "BIMI braucht die DMARC-Richtlinie quarantine oder reject für alle E-Mails (kein pct " +
    "unter 100).",
  "Complaints are below 0.1 %.": "Beschwerden liegen unter 0,1 %.",
  ["Complaints are over 0.1 %. From 0.3 %, mailbox providers refuse email: write less " +
    "often to people who do not open it."]:
    "Beschwerden liegen über 0,1 %. Ab 0,3 % weisen Postfachanbieter E-Mails ab: " +
    "Schreiben Sie seltener an Personen, die sie nicht öffnen.",
  ["Complaints are over 0.3 %, so mailbox providers may refuse email: stop writing to " +
    "people who did not ask for it."]:
    "Beschwerden liegen über 0,3 %; Postfachanbieter können E-Mails abweisen: Schreiben " +
    "Sie nicht mehr an Personen, die nicht darum gebeten haben.",
  "DNS did not answer.": "DNS hat nicht geantwortet.",
  "Email is signed with DKIM.": "E-Mails sind mit DKIM signiert.",
  "It was not checked yet.": "Noch nicht geprüft.",
  "Mailbox providers send DMARC reports.": "Postfachanbieter senden DMARC-Berichte.",
  "Marketing email has one-click unsubscribe.":
    "Marketing-E-Mails haben die Abmeldung mit einem Klick.",
  "Much email with your domain in From does not pass DMARC: look at its sources in the reports.":
    "Viele E-Mails mit Ihrer Domain im Absender bestehen DMARC nicht: Sehen Sie sich " +
    "deren Quellen in den Berichten an.",
  "No DKIM key was found: publish the records of your provider.":
    "Kein DKIM-Schlüssel gefunden: Veröffentlichen Sie die Einträge Ihres Anbieters.",
  "No DMARC report has come yet, so nobody knows whether email passes.":
    "Es ist noch kein DMARC-Bericht gekommen; ob E-Mails bestehen, ist also nicht bekannt.",
  "One-click unsubscribe needs HTTPS: set PUBLIC_URL to an address that begins with https://.":
    "Die Abmeldung mit einem Klick braucht HTTPS: Setzen Sie PUBLIC_URL auf eine " +
    "Adresse, die mit https:// beginnt.",
  "Other mail servers send TLS reports.": "Andere Mailserver senden TLS-Berichte.",
  "SPF counts for the domain of your provider only. Its return address can use your domain.":
    "SPF gilt nur für die Domain Ihres Anbieters. Dessen Rücksendeadresse kann Ihre " +
    "Domain verwenden.",
  "SPF counts for your domain.": "SPF gilt für Ihre Domain.",
  "The BIMI record is not valid: it needs one logo, as https address of an SVG file.":
    "Der BIMI-Eintrag ist ungültig: Er braucht ein Logo als https-Adresse einer SVG-Datei.",
  "The BIMI record is valid.": "Der BIMI-Eintrag ist gültig.",
  "The BIMI record says that the domain shows no logo.":
    "Der BIMI-Eintrag sagt, dass die Domain kein Logo zeigt.",
  "The DKIM records are only shown at the provider: name their selectors to have them checked.":
    "Die DKIM-Einträge zeigt nur der Anbieter: Nennen Sie deren Selektoren, damit sie " +
    "geprüft werden.",
  "The DMARC record is not valid.": "Der DMARC-Eintrag ist ungültig.",
  "The DMARC record names no address for reports (rua).":
    "Der DMARC-Eintrag nennt keine Adresse für Berichte (rua).",
  "The MTA-STS policy could not be read at its https address.":
    "Die MTA-STS-Richtlinie ist unter ihrer https-Adresse nicht lesbar.",
  "The MTA-STS policy does not name all mail servers of the domain.":
    "Die MTA-STS-Richtlinie nennt nicht alle Mailserver der Domain.",
  "The MTA-STS policy is not valid.": "Die MTA-STS-Richtlinie ist ungültig.",
  "The MTA-STS policy is valid and enforced.": "Die MTA-STS-Richtlinie ist gültig und verbindlich.",
  "The MTA-STS policy is valid, but not in the mode enforce.":
    "Die MTA-STS-Richtlinie ist gültig, aber nicht im Modus enforce.",
  "The MTA-STS record is not valid: it needs v=STSv1 and an id.":
    "Der MTA-STS-Eintrag ist ungültig: Er braucht v=STSv1 und eine id.",
  "The SPF record is wrong: publish the one that is shown with the DNS records.":
    "Der SPF-Eintrag ist falsch: Veröffentlichen Sie den, der bei den DNS-Einträgen steht.",
  "The domain has a DMARC record.": "Die Domain hat einen DMARC-Eintrag.",
  "The domain has no BIMI record, which shows your logo at some mailbox providers.":
    "Die Domain hat keinen BIMI-Eintrag, mit dem manche Postfachanbieter Ihr Logo zeigen.",
  "The domain has no DMARC record: publish one, at first with p=none.":
    "Die Domain hat keinen DMARC-Eintrag: Veröffentlichen Sie einen, zunächst mit p=none.",
  "The domain has no MTA-STS record, which makes others encrypt email to you.":
    "Die Domain hat keinen MTA-STS-Eintrag, der andere zur Verschlüsselung verpflichtet.",
  "The domain has no record for TLS reports.": "Die Domain hat keinen Eintrag für TLS-Berichte.",
  "The record for TLS reports is not valid: it needs one rua.":
    "Der Eintrag für TLS-Berichte ist ungültig: Er braucht eine rua.",
  "Too little email was delivered for a rate of complaints.":
    "Für eine Beschwerderate wurden zu wenige E-Mails zugestellt.",
  "You are a bulk sender for Gmail, so everything that is required here applies.":
    "Für Gmail sind Sie ein Massenversender; alles, was hier verlangt wird, gilt für Sie.",
  ["You send Gmail almost 5,000 emails a day. From there its rules for bulk senders " +
    "apply, and go on to apply when you send less."]:
    "Sie senden fast 5.000 E-Mails am Tag an Gmail. Ab da gelten die Regeln für " +
    "Massenversender, auch wenn Sie später weniger senden.",
  "You send Gmail less than 5,000 emails a day.":
    "Sie senden weniger als 5.000 E-Mails am Tag an Gmail.",
};

/** Why a domain of tracked links is not used. */
const trackingDomains = {
  "No verified domain of the organization is {name} or above it":
    "Keine bestätigte Domain der Organisation ist {name} oder steht darüber",
  "DNS has no address for {name}: publish the record":
    "Das DNS hat keine Adresse für {name}: Veröffentlichen Sie den Eintrag",
  "{name} does not lead to this service: a link there was answered with {status}":
    "{name} führt nicht zu diesem Dienst: Ein Link dort wurde mit {status} beantwortet",
};

export const germanAnswers: Readonly<Record<string, string>> = {
  ...roles,
  ...playbooks,
  ...health,
  ...attention,
  ...deliveries,
  ...campaigns,
  ...checks,
  ...timeline,
  ...jobs,
  ...domainAdvice,
  ...trackingDomains,
};
