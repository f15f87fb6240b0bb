import com.rabbitmq.client.Address;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;

/** Publishes the lines it reads to a queue where nobody takes them for five seconds. */
public class MessageTTLProducer {
    public static void main(String[] args) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setPort(Integer.getInteger("amqp.port", 5672));
        Address[] addresses = { new Address("localhost", factory.getPort()) };
        try (Connection connection = factory.newConnection(addresses)) {
            Channel channel = connection.createChannel();
            channel.exchangeDeclare("msg.ttl.dl.exchange.test", BuiltinExchangeType.TOPIC);
            Map<String, Object> limits = new HashMap<>();
            limits.put("x-dead-letter-exchange", "msg.ttl.dl.exchange.test");
            limits.put("x-dead-letter-routing-key", "msg.ttl.dl.routing.key");
            limits.put("x-message-ttl", 5000);
            channel.queueDeclare("msg.ttl.dl.queue.test", false, false, false, null);
            channel.queueBind("msg.ttl.dl.queue.test", "msg.ttl.dl.exchange.test", "#.msg.ttl.dl.routing.key");
            channel.queueDeclare("msg.ttl.queue.test", false, false, false, limits);
            channel.exchangeDeclare("msg.ttl.exchange.test", BuiltinExchangeType.TOPIC);
            channel.queueBind("msg.ttl.queue.test", "msg.ttl.exchange.test", "#.msg.ttl.routing.key");

            Scanner lines = new Scanner(System.in);
            System.out.print("> ");
            for (String line = lines.nextLine(); !line.equalsIgnoreCase("q"); line = lines.nextLine()) {
                channel.basicPublish("msg.ttl.exchange.test", "msg.ttl.routing.key", null,
                    line.getBytes(StandardCharsets.UTF_8));
                System.out.print("> ");
            }
            channel.close();
        }
    }
}
