// Playbooks for people who have just come.
import { greeting, type PlaybookSource, ruleOn, signature } from "./playbook-source.ts";

export const welcome: PlaybookSource = {
  id: 1,
  key: "welcome",
  name: "Welcome",
  description:
    "Greets new subscribers at once, shows them your best content, and asks what they are " +
    "interested in. Three mails in six days.",
  triggerType: "tag_add",
  triggerConfig: { tagName: "subscriber" },
  variables: [],
  steps: [
    {
      mail: {
        name: "Welcome 1: glad you are here",
        subject: "Welcome to [[company]]{% if firstName %}, {{ firstName }}{% endif %}",
        preview: "Here is what to expect from us and where to start.",
        blocks: [
          { heading: "Glad you are here" },
          greeting,
          "Thank you for joining us. We write when we have something worth your time: new " +
            "things, good offers, and what we have learned on the way. Never every day.",
          "If you only do one thing today, have a look around:",
          { button: "Take a look", href: "[[url]]" },
          "And if you ever have a question, just reply. A person reads every reply.",
          signature,
        ],
      },
    },
    { waitDays: 2 },
    {
      mail: {
        name: "Welcome 2: where most people start",
        subject: "Where most people start",
        preview: "Three things that others found most useful in their first week.",
        blocks: [
          greeting,
          "When there is a lot to see, it helps to know where others started. These three " +
            "are the ones people come back to:",
          {
            list: [
              "Our favorites: the things we would choose ourselves.",
              "The guide: short answers to what people ask most.",
              "What is new: added in the last few weeks.",
            ],
          },
          { button: "Start with the favorites", href: "[[url]]" },
          signature,
        ],
      },
    },
    { waitDays: 4 },
    {
      mail: {
        name: "Welcome 3: one question",
        subject: "One question for you",
        preview: "It takes ten seconds, and it decides what we send you.",
        blocks: [
          greeting,
          "You have been with us for almost a week now, so here is the one question we ask " +
            "everybody:",
          { heading: "What brought you to us?" },
          "Hit reply and tell us in a sentence. Your answer goes to a real person, and it " +
            "decides what we write about next.",
          "Thank you for reading this far.",
          signature,
        ],
      },
    },
  ],
};

export const onboarding: PlaybookSource = {
  id: 2,
  key: "onboarding",
  name: "Onboarding",
  description:
    "Takes new users to their first success, one step at a time. Users who get the tag " +
    "`activated` on the way are congratulated and leave early; all others are offered help.",
  triggerType: "tag_add",
  triggerConfig: { tagName: "signed-up" },
  variables: [
    {
      name: "setupUrl",
      purpose: "Link to the setup; without it, the site's address is used",
    },
  ],
  steps: [
    {
      mail: {
        name: "Onboarding 1: first step",
        subject: "Your account is ready: here is the first step",
        preview: "It takes about five minutes, and you will see a result right away.",
        blocks: [
          { heading: "Let us get you started" },
          greeting,
          "Your account is ready. The fastest way to see what [[company]] can do for you " +
            "is to set up one small thing and watch it work.",
          {
            list: [
              "Open your account.",
              "Follow the short setup. It takes about five minutes.",
              "See your first result.",
            ],
          },
          { button: "Start the setup", href: "{{ setupUrl | default: '[[url]]' }}" },
          signature,
        ],
      },
    },
    { waitDays: 2 },
    { when: ruleOn("tag", "equals", "activated"), trueBranchStepOrder: 7, falseBranchStepOrder: 4 },
    {
      mail: {
        name: "Onboarding 2: stuck?",
        subject: "Did something get in the way?",
        preview: "Most people get stuck in the same three places. Here is the way around each.",
        blocks: [
          greeting,
          "You have not finished setting up yet. That happens, and it is usually one of " +
            "three things:",
          {
            list: [
              "No time: the setup remembers where you were, so two minutes here and there " +
                "are enough.",
              "Not sure what to choose: the defaults are fine. Everything can be changed later.",
              "Something did not work: reply to this mail and tell us what you saw.",
            ],
          },
          { button: "Continue where you left off", href: "{{ setupUrl | default: '[[url]]' }}" },
          signature,
        ],
      },
    },
    { waitDays: 4 },
    {
      mail: {
        name: "Onboarding 3: let us help",
        subject: "Shall we do it together?",
        preview: "Fifteen minutes with a person who knows it by heart.",
        blocks: [
          greeting,
          "Some things are easier together. Reply with two times that suit you this week, " +
            "and one of us will go through the setup with you. It takes fifteen minutes and " +
            "is free of charge.",
          "If [[company]] turned out not to be for you, a one-line reply about why would " +
            "help us a great deal.",
          signature,
        ],
      },
      nextStepOrder: null,
    },
    {
      mail: {
        name: "Onboarding 4: well done",
        subject: "You are all set",
        preview: "What to try next, now that the first part is done.",
        blocks: [
          { heading: "Nicely done" },
          greeting,
          "You have set everything up. From here on it gets interesting. What others try next:",
          {
            list: [
              "Invite a colleague, so that you are not the only one who knows how it works.",
              "Connect what you already use.",
              "Look at your results after the first week.",
            ],
          },
          { button: "Open your account", href: "[[url]]" },
          signature,
        ],
      },
    },
  ],
};

export const trialEnding: PlaybookSource = {
  id: 3,
  key: "trial-ending",
  name: "Trial ending",
  description:
    "Three mails around the end of a trial. Apply the tag `trial-ending` three days before " +
    "the trial ends; contacts who get the tag `customer` receive no further mails.",
  triggerType: "tag_add",
  triggerConfig: { tagName: "trial-ending" },
  variables: [
    {
      name: "trialEndsOn",
      purpose: "The last day of the trial as it should read in a mail, such as 'Friday, 5 June'",
    },
    { name: "upgradeUrl", purpose: "Link to the plans; without it, the site's address is used" },
  ],
  steps: [
    {
      mail: {
        name: "Trial 1: three days left",
        subject: "Your trial ends {{ trialEndsOn | default: 'in three days' }}",
        preview: "What happens then, and how to keep everything as it is.",
        blocks: [
          greeting,
          "Your trial of [[company]] ends {{ trialEndsOn | default: 'in three days' }}. " +
            "Nothing is lost on that day: your work stays where it is, and you can go on as " +
            "soon as you choose a plan.",
          "If you choose one now, it starts only when the trial is over.",
          { button: "Choose a plan", href: "{{ upgradeUrl | default: '[[url]]' }}" },
          "Not sure which one fits? Reply and tell us how you use it. We will recommend " +
            "the smallest one that does the job.",
          signature,
        ],
      },
    },
    { waitDays: 2 },
    {
      when: ruleOn("tag", "equals", "customer"),
      trueBranchStepOrder: null,
      falseBranchStepOrder: 4,
    },
    {
      mail: {
        name: "Trial 2: last day",
        subject: "Last day of your trial",
        preview: "Two minutes today save you setting it up again later.",
        blocks: [
          { heading: "Your trial ends tomorrow" },
          greeting,
          "This is the last full day of your trial. If [[company]] has been useful, today " +
            "is a good day to keep it:",
          { button: "Keep my account", href: "{{ upgradeUrl | default: '[[url]]' }}" },
          "If you need a few more days to decide, reply and say so. We are happy to extend " +
            "it once.",
          signature,
        ],
      },
    },
    { waitDays: 3 },
    {
      when: ruleOn("tag", "equals", "customer"),
      trueBranchStepOrder: null,
      falseBranchStepOrder: 7,
    },
    {
      mail: {
        name: "Trial 3: what was missing?",
        subject: "What was missing?",
        preview: "Your account is still there, should you want it.",
        blocks: [
          greeting,
          "Your trial is over and you have not chosen a plan. That is perfectly fine. May " +
            "we ask what was missing?",
          {
            list: [
              "It was too expensive.",
              "It did not do what I needed.",
              "I had no time to try it properly.",
            ],
          },
          "Reply with the one that fits, or with something else. We read all of it, and we " +
            "will not argue.",
          "Should you change your mind, everything is still there:",
          { button: "Pick up where I left off", href: "{{ upgradeUrl | default: '[[url]]' }}" },
          signature,
        ],
      },
    },
  ],
};
