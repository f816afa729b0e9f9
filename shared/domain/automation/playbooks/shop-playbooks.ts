// Playbooks for shops.
import { greeting, orderGoal, type PlaybookSource, ruleOn, signature } from "./playbook-source.ts";

const boughtRecently = ruleOn("lastEventAt.order_placed", "inLastDays", 5);

/** The items of the event, one in each line. */
const itemsOfEvent =
  "{% for item in event.items %}{{ item.name }}{% if item.price %}: {{ item.price }}{% endif %}" +
  "{% unless forloop.last %}\n{% endunless %}{% endfor %}";
const cartButton = "{{ event.cartUrl | default: '[[url]]' }}";

export const abandonedCart: PlaybookSource = {
  id: 4,
  key: "abandoned-cart",
  name: "Abandoned cart",
  description:
    "Brings people back to their abandoned cart, and shows what is in it. Record the custom " +
    "event `cart_abandoned` with the property `items`, and `order_placed` with every order: who " +
    "orders leaves at once, and the order counts with its `total`.",
  triggerType: "custom_event",
  triggerConfig: { eventName: "cart_abandoned" },
  variables: [
    {
      name: "event.cartUrl",
      purpose: "Link that restores the cart; without it, the site's address is used",
    },
    { name: "event.items", purpose: "What is in the cart: a list with `name` and `price` of each" },
  ],
  goals: [orderGoal],
  steps: [
    { waitHours: 1 },
    { when: boughtRecently, trueBranchStepOrder: null, falseBranchStepOrder: 3 },
    {
      mail: {
        name: "Cart 1: still there",
        subject: "You left something behind",
        preview: "We kept your cart as it was.",
        blocks: [
          { heading: "We kept your cart" },
          greeting,
          "You were about to order when something came up. Everything is still in your cart, " +
            "just as you left it.",
          itemsOfEvent,
          { button: "Back to my cart", href: cartButton },
          "Did something not work? Reply and tell us, and we will sort it out.",
          signature,
        ],
      },
    },
    { waitDays: 1 },
    { when: boughtRecently, trueBranchStepOrder: null, falseBranchStepOrder: 6 },
    {
      mail: {
        name: "Cart 2: any questions?",
        subject: "Any questions about your order?",
        preview: "Delivery, returns, payment: the short answers.",
        blocks: [
          greeting,
          "Before ordering, people usually ask us the same three things:",
          {
            list: [
              "How long does delivery take? You see the day before you pay.",
              "Can I send it back? Yes, and it is easy.",
              "Is it safe to pay? Your card details never touch our servers.",
            ],
          },
          "If yours is a different question, reply to this mail.",
          { button: "Finish my order", href: cartButton },
          signature,
        ],
      },
    },
    { waitDays: 2 },
    { when: boughtRecently, trueBranchStepOrder: null, falseBranchStepOrder: 9 },
    {
      mail: {
        name: "Cart 3: last reminder",
        subject: "Shall we put it back on the shelf?",
        preview: "This is the last time we mention it.",
        blocks: [
          greeting,
          "This is the last time we mention your cart, promise. We cannot keep everything " +
            "in stock forever, so if you still want it, now is a good moment:",
          itemsOfEvent,
          { button: "Yes, I still want it", href: cartButton },
          "And if not, no hard feelings.",
          signature,
        ],
      },
    },
  ],
};

export const postPurchase: PlaybookSource = {
  id: 5,
  key: "post-purchase",
  name: "Post purchase",
  description:
    "Thanks customers, helps them make the most of what they bought, and asks for a review, or " +
    "for products that are used up, reminds them to order again. Record the custom event " +
    "`order_placed` with every order, with its `items`, and with the `category` `refill` for " +
    "products that are used up.",
  triggerType: "custom_event",
  triggerConfig: { eventName: "order_placed" },
  variables: [
    { name: "event.orderNumber", purpose: "Number of the order" },
    { name: "event.items", purpose: "What was ordered: a list with `name` and `price` of each" },
    {
      name: "reviewUrl",
      purpose: "Link to write a review; without it, the site's address is used",
    },
  ],
  steps: [
    { waitHours: 2 },
    {
      mail: {
        name: "Order 1: thank you",
        subject: "Thank you for your order",
        preview: "A word from the people who pack it.",
        blocks: [
          { heading: "Thank you" },
          greeting,
          "Your order{% if event.orderNumber %} {{ event.orderNumber }}{% endif %} means a lot " +
            "to us. " +
            "We are not a big warehouse: real people pack your parcel, and they are glad to.",
          itemsOfEvent,
          "You will get a separate mail as soon as it is on its way. To change something " +
            "before then, reply to this mail.",
          signature,
        ],
      },
    },
    { waitDays: 6 },
    {
      mail: {
        name: "Order 2: make the most of it",
        subject: "Making the most of {{ event.items[0].name | default: 'it' }}",
        preview: "Three tips from people who have had it for years.",
        blocks: [
          greeting,
          "By now your order should have reached you. Three things that customers wish " +
            "they had known from the start:",
          {
            list: [
              "Give it a few days. First impressions get better with use.",
              "Look after it as the note in the parcel says. It lasts years longer.",
              "Something not right? Tell us early. It is much easier to fix in the first weeks.",
            ],
          },
          { button: "Tips and care", href: "[[url]]" },
          signature,
        ],
      },
    },
    { waitDays: 8 },
    {
      when: ruleOn("properties.category", "equals", "refill"),
      trueBranchStepOrder: 8,
      falseBranchStepOrder: 7,
    },
    {
      mail: {
        name: "Order 3: your opinion",
        subject: "How is it, really?",
        preview: "Two honest sentences help others more than any advertisement.",
        blocks: [
          greeting,
          "You have had your order for about two weeks. How is it, really?",
          "Two honest sentences help others choose, and they help us get better. Good or " +
            "bad, we publish both.",
          { button: "Write a review", href: "{{ reviewUrl | default: '[[url]]' }}" },
          "If something disappointed you, reply to this mail instead and give us the " +
            "chance to put it right.",
          signature,
        ],
      },
      nextStepOrder: null,
    },
    {
      waitUntil: { eventName: "order_placed", timeoutMinutes: 14 * 24 * 60 },
      nextStepOrder: null,
      timeoutStepOrder: 9,
    },
    {
      mail: {
        name: "Order 3: time for more",
        subject: "Time for more?",
        preview: "Before it runs out.",
        blocks: [
          greeting,
          "You ordered {{ event.items[0].name | default: 'from us' }} about four weeks ago. " +
            "Perhaps it is running out.",
          { button: "Order again", href: "[[url]]" },
          "If you still have enough, ignore this mail.",
          signature,
        ],
      },
    },
  ],
};

export const winBack: PlaybookSource = {
  id: 6,
  key: "win-back",
  name: "Win-back",
  description:
    "For customers who have not ordered for a long time. Apply the tag `lapsed` through a " +
    "segment of your own. Record the custom event `order_placed` with every order: who orders " +
    "leaves at once, and the order counts with its `total`.",
  triggerType: "tag_add",
  triggerConfig: { tagName: "lapsed", reentry: { afterDays: 180 } },
  goals: [orderGoal],
  variables: [
    {
      name: "offerCode",
      purpose: "Discount code for the second mail; without it, no code is mentioned",
    },
  ],
  steps: [
    {
      mail: {
        name: "Win-back 1: it has been a while",
        subject: "It has been a while{% if firstName %}, {{ firstName }}{% endif %}",
        preview: "Here is what has changed since you were last here.",
        blocks: [
          { heading: "It has been a while" },
          greeting,
          "We noticed that you have not been around for some time. Perhaps you simply did " +
            "not need anything. Perhaps we missed something. Either way, a few things have " +
            "changed:",
          {
            list: [
              "New things, chosen with the same care.",
              "Faster delivery than last year.",
              "Simpler returns.",
            ],
          },
          { button: "See what is new", href: "[[url]]" },
          signature,
        ],
      },
    },
    { waitDays: 5 },
    { when: boughtRecently, trueBranchStepOrder: null, falseBranchStepOrder: 4 },
    {
      mail: {
        name: "Win-back 2: something for you",
        subject: "A small thank-you for coming back",
        preview: "For your next order, if you like.",
        blocks: [
          greeting,
          "You were a customer before most people had heard of us, and we have not forgotten that.",
          "{% if offerCode %}With the code {{ offerCode }} your next order costs less. It " +
            "works once, and it is yours alone.{% else %}On your next order we put something " +
            "extra into the parcel. No code needed: we know your address.{% endif %}",
          { button: "Choose something", href: "[[url]]" },
          signature,
        ],
      },
    },
    { waitDays: 7 },
    {
      when: ruleOn("step.4.clicked", "exists"),
      trueBranchStepOrder: null,
      falseBranchStepOrder: 7,
    },
    {
      mail: {
        name: "Win-back 3: what went wrong?",
        subject: "Did we do something wrong?",
        preview: "One honest line would help us a great deal.",
        blocks: [
          greeting,
          "We would love to know why you stopped ordering. One honest line is enough: " +
            "price, choice, service, or simply that life moved on.",
          "Hit reply. It goes to a person, and that person can put things right.",
          signature,
        ],
      },
    },
  ],
};
