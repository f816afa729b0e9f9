// Playbooks that keep a relation alive.
import { greeting, type PlaybookSource, ruleOn, signature } from "./playbook-source.ts";

export const reEngagement: PlaybookSource = {
  id: 7,
  key: "re-engagement",
  name: "Re-engagement",
  description:
    "For subscribers who have not opened anything for months. Subscribers who open or click " +
    "stay; all others are told how to leave. Tag them with `quiet`, for example by a segment " +
    "of contacts whose last open was not in the last 90 days.",
  triggerType: "tag_add",
  triggerConfig: { tagName: "quiet" },
  variables: [],
  steps: [
    {
      mail: {
        name: "Re-engagement 1: still interested?",
        subject: "Still interested?",
        preview: "A short one, to see whether we should keep writing.",
        blocks: [
          { heading: "Still there?" },
          greeting,
          "We have been writing to you and have not heard from you for a while. That is " +
            "all right: inboxes are full.",
          "If you would like to keep hearing from us, one click is enough:",
          { button: "Yes, keep me posted", href: "[[url]]" },
          signature,
        ],
      },
    },
    { waitDays: 4 },
    {
      when: ruleOn("step.1.clicked", "exists"),
      trueBranchStepOrder: null,
      falseBranchStepOrder: 4,
    },
    {
      mail: {
        name: "Re-engagement 2: the best of it",
        subject: "The best of what you missed",
        preview: "If one of these is for you, we got something right.",
        blocks: [
          greeting,
          "Instead of another long mail, here is the best of the last few months in three lines:",
          {
            list: [
              "What people read most.",
              "What people bought most.",
              "What we are proudest of.",
            ],
          },
          { button: "Show me", href: "[[url]]" },
          signature,
        ],
      },
    },
    { waitDays: 6 },
    {
      when: {
        match: "any",
        conditions: [
          { field: "step.1.opened", operator: "exists" },
          { field: "step.4.opened", operator: "exists" },
        ],
      },
      trueBranchStepOrder: null,
      falseBranchStepOrder: 7,
    },
    {
      mail: {
        name: "Re-engagement 3: goodbye?",
        subject: "Shall we say goodbye?",
        preview: "We would rather write to people who like to read us.",
        blocks: [
          greeting,
          "We would rather write to people who like to read us, and we think you would " +
            "rather have a tidy inbox.",
          "If you want to stay, press the button. If you want to go, the link at the very " +
            "end of this mail takes you off the list at once, without any questions.",
          { button: "I would like to stay", href: "[[url]]" },
          "Thank you for the time you were with us.",
          signature,
        ],
      },
    },
  ],
};

export const eventFollowUp: PlaybookSource = {
  id: 8,
  key: "event-follow-up",
  name: "Event follow-up",
  description:
    "After a webinar, talk or trade fair. Contacts who attended (tag `attended`) get the " +
    "recording and a next step; contacts who registered but did not come get the recording " +
    "with different wording. Apply the tag `event-over` when the event is over.",
  triggerType: "tag_add",
  triggerConfig: { tagName: "event-over" },
  variables: [
    {
      name: "eventName",
      purpose: "The name of the event as it should read in a mail, such as 'our spring webinar'",
    },
    {
      name: "recordingUrl",
      purpose: "Link to the recording or slides; without it, the site's address is used",
    },
    {
      name: "meetingUrl",
      purpose: "Link to choose a time for a call; without it, readers are asked to reply",
    },
  ],
  steps: [
    { waitHours: 2 },
    { when: ruleOn("tag", "equals", "attended"), trueBranchStepOrder: 3, falseBranchStepOrder: 4 },
    {
      mail: {
        name: "Event 1: thank you for coming",
        subject: "Thank you for coming",
        preview: "The recording, the slides, and the answers we promised.",
        blocks: [
          { heading: "It was good to have you there" },
          greeting,
          "Thank you for being part of {{ eventName | default: 'our event' }}. As " +
            "promised, here is everything to look at again or to pass on:",
          { button: "Recording and slides", href: "{{ recordingUrl | default: '[[url]]' }}" },
          "Do you still have a question? Reply to this mail. The speakers read the replies " +
            "themselves.",
          signature,
        ],
      },
      nextStepOrder: 5,
    },
    {
      mail: {
        name: "Event 1: we missed you",
        subject: "We missed you",
        preview: "Here is the recording, for when it suits you.",
        blocks: [
          greeting,
          "You registered for {{ eventName | default: 'our event' }} but could not make " +
            "it. That happens to all of us. We recorded it for you:",
          { button: "Watch the recording", href: "{{ recordingUrl | default: '[[url]]' }}" },
          "In a hurry? The part that people talked about most is in the last ten minutes.",
          signature,
        ],
      },
      nextStepOrder: 5,
    },
    { waitDays: 3 },
    {
      mail: {
        name: "Event 2: the next step",
        subject: "What would it look like for you?",
        preview: "Twenty minutes about your own case, without slides.",
        blocks: [
          greeting,
          "{{ eventName | default: 'Our event' | capitalize }} was about the general case. " +
            "Yours is different.",
          "We offer everybody who registered twenty minutes about their own situation: no " +
            "slides, no pitch, just what we would do in your place.",
          {
            button: "{% if meetingUrl %}Choose a time{% else %}Have a look first{% endif %}",
            href: "{{ meetingUrl | default: '[[url]]' }}",
          },
          "{% unless meetingUrl %}Reply with two times that suit you, and we will call.{% " +
            "endunless %}",
          signature,
        ],
      },
    },
  ],
};
