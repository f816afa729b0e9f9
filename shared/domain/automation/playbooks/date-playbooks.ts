// Playbooks that begin at a date of the contact.
import { greeting, type PlaybookSource, signature } from "./playbook-source.ts";

export const birthday: PlaybookSource = {
  id: 9,
  key: "birthday",
  name: "Birthday",
  description:
    "Congratulates on the birthday in the custom field `birthday`, every year at nine in the " +
    "morning of the contact.",
  triggerType: "date",
  triggerConfig: { field: "customFields.birthday", yearly: true, hour: 9 },
  variables: [
    {
      name: "birthdayCode",
      purpose: "Discount code; without it, no code is mentioned",
    },
  ],
  steps: [
    {
      mail: {
        name: "Birthday",
        subject: "Happy birthday{% if firstName %}, {{ firstName }}{% endif %}",
        preview: "A small present from all of us.",
        blocks: [
          { heading: "Happy birthday" },
          greeting,
          "All of us wish you a good day, and a good year.",
          "{% if birthdayCode %}With the code {{ birthdayCode }} you choose your present " +
            "yourself.{% else %}If you order today, we put something extra into the parcel.{% " +
            "endif %}",
          { button: "Choose something", href: "[[url]]" },
          signature,
        ],
      },
    },
  ],
};

export const renewal: PlaybookSource = {
  id: 10,
  key: "renewal",
  name: "Renewal",
  description:
    "Reminds of a contract that ends on the date in the custom field `renewal`: two weeks " +
    "before, a week before and on the day. Record the custom event `renewed` with every renewal: " +
    "who renews leaves at once, and the renewal counts with its `total`.",
  triggerType: "date",
  triggerConfig: { field: "customFields.renewal", offsetDays: -14 },
  variables: [
    { name: "plan", purpose: "What is renewed" },
    {
      name: "renewalUrl",
      purpose: "Link to renew; without it, the site's address is used",
    },
  ],
  goals: [{ eventName: "renewed", valueProperty: "total" }],
  steps: [
    {
      mail: {
        name: "Renewal 1: in two weeks",
        subject: "Your {{ plan | default: 'contract' }} ends in two weeks",
        preview: "One click, and everything stays as it is.",
        blocks: [
          greeting,
          "Your {{ plan | default: 'contract' }} ends in two weeks. To keep it, renew it now: " +
            "it takes a minute, and the new period begins when the old one ends.",
          { button: "Renew", href: "{{ renewalUrl | default: '[[url]]' }}" },
          "Is something else better for you by now? Reply, and we will find it together.",
          signature,
        ],
      },
    },
    { waitUntil: { field: "customFields.renewal", offsetDays: -7, hour: 9 } },
    {
      mail: {
        name: "Renewal 2: in a week",
        subject: "One week left",
        preview: "What ends, and what stays.",
        blocks: [
          greeting,
          "In a week your {{ plan | default: 'contract' }} ends. Your data stays with us for " +
            "a while, so nothing is lost if you come back later.",
          { button: "Renew", href: "{{ renewalUrl | default: '[[url]]' }}" },
          signature,
        ],
      },
    },
    { waitUntil: { field: "customFields.renewal", hour: 9 } },
    {
      mail: {
        name: "Renewal 3: today",
        subject: "Today is the last day",
        preview: "Renew today, and nothing is interrupted.",
        blocks: [
          greeting,
          "Your {{ plan | default: 'contract' }} ends today. If you renew it today, nothing " +
            "is interrupted.",
          { button: "Renew now", href: "{{ renewalUrl | default: '[[url]]' }}" },
          "And if you do not want to go on: thank you for the time with us.",
          signature,
        ],
      },
    },
  ],
};
