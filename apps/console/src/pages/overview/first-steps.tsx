import { session } from '../../session';
import { href } from '../../router';
import { toast } from '../../ui/toasts';

/** What to do with a broker that has no queues: three requests, and a dead letter is there to look at. */
export function FirstSteps() {
  const curl = `curl -u ${session.value?.user ?? 'guest'}`;
  const api = new URL('api', new URL('.', document.baseURI)).href;
  const json = "-H 'content-type: application/json'";
  return (
    <section class="first-steps">
      <h2>Nothing has died here yet</h2>
      <p class="muted">
        This broker has no queues. An application declares them when it connects. To see a dead letter now, send three
        requests.
      </p>
      <ol>
        <Step
          title="Declare a queue for dead letters"
          code={`${curl} -X PUT ${api}/queues/%2F/orders.dead ${json} -d '{"durable":true}'`}
        />
        <Step
          title="Declare a queue that sends its dead letters there"
          code={`${curl} -X PUT ${api}/queues/%2F/orders ${json} -d '{"durable":true,"arguments":{"x-dead-letter-exchange":"","x-dead-letter-routing-key":"orders.dead"}}'`}
        />
        <Step
          title="Publish a message that expires after a second"
          code={`${curl} ${api}/exchanges/%2F/amq.default/publish ${json} -d '{"routing_key":"orders","payload":"{\\"order\\":1}","payload_encoding":"string","properties":{"expiration":"1000"}}'`}
        />
      </ol>
      <p>
        Then open <a href={href(['dead-letters'])}>Dead letters</a>: the message is there, with the reason, the queue
        and the time of its death. <a href={href(['topology'])}>Topology</a> shows its way.
      </p>
    </section>
  );
}

function Step({ title, code }: { title: string; code: string }) {
  return (
    <li>
      <h3>{title}</h3>
      <div class="step-code">
        <pre class="code" tabIndex={0} role="region" aria-label={title}>
          {code}
        </pre>
        <button type="button" onClick={() => void copy(code)}>
          Copy
        </button>
      </div>
    </li>
  );
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied.');
  } catch {
    toast('The browser does not allow copying here. Select the text instead.', 'failed');
  }
}
