const teas = ['Assam', 'Darjeeling', 'Sencha', 'Oolong', 'Earl Grey', 'Rooibos'];
const slots = 5;

/** What each reason of a death means here. */
const reasons = {
  rejected: ({ error }) => error ?? 'the handler rejected it',
  expired: () => 'waited longer than 6 s',
  maxlen: () => `pushed out: ${slots} orders waited already`,
};

const find = (id) => document.getElementById(id);

/** An element with text and other elements in it. What clients wrote is only ever text. */
function element(name, className, ...content) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...content);
  return made;
}

async function post(path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error((await response.json()).message);
}

/** Shows the new state at once. A failure is shown until the next state arrives. */
async function act(work) {
  await work().catch(complain);
  await refresh();
}

function complain(error) {
  find('trouble').hidden = false;
  find('trouble').textContent = error instanceof TypeError ? 'The shop does not answer.' : error.message;
}

function row({ letter, order, error, deaths }) {
  const { reason, queue, time } = deaths[0];
  const again = element('button', '', 'Redrive');
  again.setAttribute('aria-label', `Redrive order ${order.id}`);
  again.onclick = () => act(() => post('redrives', { letters: [letter] }));
  const what = element('span', 'what', element('b', '', `#${order.id}`), ` ${order.quantity} × ${order.tea}`);
  const why = element('span', 'why', reasons[reason]?.({ error }) ?? reason);
  const where = element('small', '', `x-death: ${reason} in ${queue} at ${new Date(time).toLocaleTimeString()}`);
  const item = element('li', '', element('span', `reason ${reason}`, reason), what, why, where, again);
  item.dataset['letter'] = letter;
  return item;
}

/** Adds and removes only what changed, so that the focus stays where it is. */
function showDead(dead) {
  const list = find('dead');
  const known = new Set(dead.map(({ letter }) => String(letter)));
  for (const item of list.querySelectorAll('li')) if (!known.has(item.dataset['letter'])) item.remove();
  const shown = new Set([...list.children].map((item) => item.dataset['letter']));
  list.prepend(
    ...dead
      .filter(({ letter }) => !shown.has(String(letter)))
      .toReversed()
      .map(row),
  );
  find('count').textContent = dead.length === 0 ? '' : dead.length;
  find('none').hidden = dead.length > 0;
  find('all').hidden = dead.length < 2;
  find('all').onclick = () => act(() => post('redrives', { letters: dead.map(({ letter }) => letter) }));
}

/** Another order gets another element, so that its bar begins anew. */
function showPacking(text) {
  const shown = find('packing');
  if (shown.textContent === text) return;
  const next = element('p', text === 'idle' ? 'large' : 'large busy', text);
  next.id = 'packing';
  shown.replaceWith(next);
}

function show({ stock, waiting, packing, shipped, dead }) {
  const places = Array.from({ length: slots }, (_, place) => element('li', place < waiting ? 'taken' : '', ''));
  find('slots').replaceChildren(...places);
  find('slots').setAttribute('aria-label', `${waiting} of ${slots} places are taken`);
  showPacking(packing === undefined ? 'idle' : `#${packing.id}`);
  find('shipped').textContent = shipped.length;
  find('stock').textContent = `${stock} teas in stock`;
  showDead(dead);
}

async function refresh() {
  try {
    show(await (await fetch('shop')).json());
    find('trouble').hidden = true;
  } catch (error) {
    complain(error);
  }
}

for (const button of document.querySelectorAll('[data-orders]'))
  button.onclick = () =>
    act(async () => {
      for (let left = Number(button.dataset.orders); left > 0; left--) {
        const tea = teas[Math.floor(Math.random() * teas.length)];
        await post('orders', { tea, quantity: Number(button.dataset.quantity) });
      }
    });
find('restock').onclick = () => act(() => post('stock', { quantity: 50 }));

await refresh();
setInterval(refresh, 500);
