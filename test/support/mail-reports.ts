// Reports as mail servers write them. `id` is our id of the mail: in the return address and in the
// message id.

interface Reported {
  /** The address that failed. */
  to: string;
  id: string;
}

const crlf = (text: string): string => text.replace(/\r?\n/g, "\r\n");

/** Headers of the mail that came back. */
const returned = ({ to, id }: Reported) => `Received: from app (app [203.0.113.5])
\tby mx.shop.example (Postfix) with ESMTPSA id 4R1; Tue,  1 Dec 2026 09:00:00 +0000 (UTC)
From: Shop <hello@shop.example>
To: ${to}
Subject: Hello
Message-ID: <${id}@shop.example>
Date: Tue, 01 Dec 2026 09:00:00 +0000
`;

const report = (parts: {
  headers: string;
  text: string;
  status: string;
  original?: string;
  type?: string;
}) =>
  crlf(`${parts.headers}MIME-Version: 1.0
Content-Type: multipart/report; report-type=${parts.type ?? "delivery-status"}; boundary="B_1"

--B_1
Content-Type: text/plain; charset=us-ascii

${parts.text}
--B_1
Content-Type: message/${parts.type ?? "delivery-status"}

${parts.status}
--B_1
Content-Type: ${parts.original === undefined ? "text/plain" : "message/rfc822"}

${parts.original ?? ""}
--B_1--
`);

const returnPath = ({ id }: Reported) => `bounces+${id}@shop.example`;

/** By mail server. */
export const bounces: Record<string, (about: Reported) => string> = {
  postfix: (about) =>
    report({
      headers: `Return-Path: <>
Date: Tue,  1 Dec 2026 09:00:05 +0000 (UTC)
From: MAILER-DAEMON@mx.shop.example (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: ${returnPath(about)}
Auto-Submitted: auto-replied
Message-Id: <20261201090005.5B1@mx.shop.example>
`,
      text: `This is the mail system at host mx.shop.example.

<${about.to}>: host mx.example.net[192.0.2.1] said: 550 5.1.1 <${about.to}>:
    Recipient address rejected: User unknown (in reply to RCPT TO command)`,
      status: `Reporting-MTA: dns; mx.shop.example
X-Postfix-Queue-ID: 4R1
Arrival-Date: Tue,  1 Dec 2026 09:00:00 +0000 (UTC)

Final-Recipient: rfc822; ${about.to}
Original-Recipient: rfc822;${about.to}
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.example.net
Diagnostic-Code: smtp; 550 5.1.1 <${about.to}>: Recipient address rejected:
    User unknown`,
      original: returned(about),
    }),
  exim: (about) =>
    crlf(`Return-path: <>
Received: from Debian-exim by mail.host.example with local (Exim 4.80)
\tid 1cV; Tue, 01 Dec 2026 09:00:05 +0000
X-Failed-Recipients: ${about.to}
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mail.host.example>
To: hello@shop.example
Subject: Mail delivery failed: returning message to sender
Message-Id: <E1cV-0001@mail.host.example>
Date: Tue, 01 Dec 2026 09:00:05 +0000

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ${about.to}
    SMTP error from remote mail server after RCPT TO:<${about.to}>:
    host mx.example.net [192.0.2.1]: 550 5.1.1 No such user here

------ This is a copy of the message, including all the headers. ------

${returned(about)}
Hello
`),
  qmail: (about) =>
    crlf(`Return-Path: <>
Date: 1 Dec 2026 09:00:05 -0000
From: MAILER-DAEMON@mail.example.net
To: ${returnPath(about)}
Subject: failure notice

Hi. This is the qmail-send program at mail.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<${about.to}>:
192.0.2.1 does not like recipient.
Remote host said: 550 5.1.1 No such user
Giving up on 192.0.2.1.

--- Below this line is a copy of the message.

Return-Path: <${returnPath(about)}>
${returned(about)}
Hello, your order 452 - 2 pieces - is too large.
`),
  exchange: (about) =>
    report({
      headers: `From: <postmaster@corp.example>
To: <${returnPath(about)}>
Subject: Undeliverable: Hello
Date: Tue, 1 Dec 2026 09:00:09 +0000
X-MS-Exchange-Message-Is-Ndr:
X-Auto-Response-Suppress: All
Auto-Submitted: auto-replied
In-Reply-To: <${about.id}@shop.example>
Message-ID: <b8a0@corp.example>
`,
      text: "Delivery has failed to these recipients or groups: the mailbox is full.",
      status: `Reporting-MTA: dns;EX01.corp.example
Received-From-MTA: dns;mx.shop.example

Final-recipient: RFC822;${about.to}
Action: failed
Status: 5.2.2
Diagnostic-Code: smtp;554 5.2.2 mailbox full; STOREDRV.Deliver; recipient over quota
X-Display-Name: Ann`,
      original: returned(about),
    }),
  gmail: (about) =>
    report({
      headers: `From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
To: ${returnPath(about)}
Auto-Submitted: auto-replied
Subject: Delivery Status Notification (Failure)
References: <${about.id}@shop.example>
In-Reply-To: <${about.id}@shop.example>
X-Failed-Recipients: ${about.to}
Message-ID: <656.170@mx.google.com>
Date: Tue, 01 Dec 2026 01:00:07 -0800 (PST)
`,
      text: `** Address not found **\n\nYour message wasn't delivered to ${about.to}.`,
      status: `Reporting-MTA: dns; googlemail.com
Arrival-Date: Tue, 01 Dec 2026 01:00:06 -0800 (PST)
X-Original-Message-ID: <${about.id}@shop.example>

Final-Recipient: rfc822; ${about.to}
Action: failed
Status: 5.1.1
Remote-MTA: dns; gmail-smtp-in.l.google.com. (192.0.2.2)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist.
 550 5.1.1  https://support.google.com/mail/?p=NoSuchUser
Last-Attempt-Date: Tue, 01 Dec 2026 01:00:07 -0800 (PST)`,
      original: returned(about),
    }),
};

/** A Postfix server is still trying. */
export const delay = (about: Reported): string =>
  bounces.postfix!(about)
    .replace("Action: failed", "Action: delayed")
    .replace("Status: 5.1.1", "Status: 4.4.1")
    .replace("20261201090005", "20261201090004");

export const complaint = (about: Reported): string =>
  report({
    headers: `From: <feedback@isp.example>
To: <abuse@shop.example>
Subject: FW: Hello
Date: Tue, 1 Dec 2026 10:00:00 +0000
Message-ID: <fbl-1@isp.example>
`,
    text: "This is an email abuse report for an email message received from IP 203.0.113.5.",
    type: "feedback-report",
    status: `Feedback-Type: abuse
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <${returnPath(about)}>
Original-Rcpt-To: <${about.to}>
Source-IP: 203.0.113.5`,
    original: `${returned(about)}\nHello\n`,
  });
