// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
// The contracts of the development chain: a token of OpenZeppelin 4 and the least of the service's proxy.
import "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

contract Token is ERC20 {
    constructor() ERC20("Token", "TKN") {}
    function grant(address to, uint256 units) external { _mint(to, units); }
}

contract Proxy {
    using SafeERC20 for IERC20;
    address constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    uint256 public orderID = 30 * 10 ** 9;
    event LogVaultOut(address indexed token, address indexed from, uint256 indexed orderID, uint256 amount, address vault, bytes order);
    function vaultOut(address token, uint256 amount, bool, bytes calldata order) external payable {
        if (token == NATIVE) {
            require(msg.value == amount, "MP: value mismatch");
        } else {
            require(msg.value == 0, "MP: unexpected value");
            IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
        }
        orderID += 1;
        emit LogVaultOut(token, msg.sender, orderID, amount, address(this), order);
    }
}
