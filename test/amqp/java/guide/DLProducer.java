import com.rabbitmq.client.Address;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.nio.charset.StandardCharsets;
import java.util.Scanner;

/** Publishes the lines it reads, until one is q. */
public class DLProducer {
    public static void main(String[] args) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setPort(Integer.getInteger("amqp.port", 5672));
        Address[] addresses = { new Address("localhost", factory.getPort()) };
        try (Connection connection = factory.newConnection(addresses)) {
            Channel channel = connection.createChannel();
            channel.exchangeDeclare("normal.exchange.test", BuiltinExchangeType.TOPIC);

            Scanner lines = new Scanner(System.in);
            System.out.print("> ");
            for (String line = lines.nextLine(); !line.equalsIgnoreCase("q"); line = lines.nextLine()) {
                channel.basicPublish("normal.exchange.test", "prefix.normal.routing.key", null,
                    line.getBytes(StandardCharsets.UTF_8));
                System.out.print("> ");
            }
            channel.close();
        }
    }
}
