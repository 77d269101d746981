// rsmq: `inFlight` loops, each of which sends a message, receives one and deletes it.

import RedisSMQ from 'rsmq';

import { Ledger, inParallel, measure, settings } from './cycle.mjs';

const { port, inFlight, ...counts } = settings();
const queue = new RedisSMQ({ host: '127.0.0.1', port });
const qname = 'bench';
await queue.createQueueAsync({ qname });

async function receive() {
  for (;;) {
    const message = await queue.receiveMessageAsync({ qname });
    if (message.id) return message;
  }
}

const result = await measure(counts, async (begin, end) => {
  const ledger = new Ledger(begin, end);
  await inParallel(inFlight, begin, end, async (number) => {
    await queue.sendMessageAsync({ qname, message: JSON.stringify({ number }) });
    const { id, message } = await receive();
    const deleted = await queue.deleteMessageAsync({ qname, id });
    if (deleted !== 1) throw new Error(`message ${id} was deleted by somebody else`);
    ledger.note(JSON.parse(message).number);
  });
  await ledger.complete;
});
const { msgs } = await queue.getQueueAttributesAsync({ qname });
if (msgs !== 0) throw new Error(`${msgs} messages are left`);
queue.quit();
console.log(JSON.stringify(result));
